package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"octopus"
)

// failure makes the error of a fetch; the URL is filled in at the end, where it
// is known.
func failure(kind octopus.Kind, err error) *octopus.Error {
	return &octopus.Error{Op: "fetch", Kind: kind, Err: err}
}

// errLimit is the cause of a request that ran out of time.
type errLimit struct {
	what  string
	limit time.Duration
}

func (e *errLimit) Error() string { return fmt.Sprintf("%s: more than %v", e.what, e.limit) }

// errSlow is the cause of a body that fell below the floor rate.
type errSlow struct{ rate, floor int64 }

func (e *errSlow) Error() string {
	return fmt.Sprintf("the body comes at %d bytes/s, less than %d", e.rate, e.floor)
}

// classifyResolve keeps the kind a resolver gave its error.
func classifyResolve(err error) *octopus.Error {
	var own *octopus.Error
	if errors.As(err, &own) {
		return &octopus.Error{Op: "fetch", Kind: own.Kind, Err: err}
	}
	return failure(octopus.KindDNS, err)
}

// classifyDial gives the error of a connection attempt its kind. An address
// that the guard refused says so even if others failed otherwise.
func classifyDial(err error) *octopus.Error {
	var own *octopus.Error
	var ne net.Error
	switch {
	case errors.As(err, &own):
		return failure(own.Kind, own.Err)
	case errors.As(err, &ne) && ne.Timeout():
		return failure(octopus.KindTimeout, err)
	}
	return failure(octopus.KindConnect, err)
}

// classifyTLS gives the error of a handshake its kind: one that took too long or
// broke off may work another time, one that was refused will not.
func classifyTLS(ctx context.Context, err error) *octopus.Error {
	switch {
	case ctx.Err() != nil:
		return failure(octopus.KindTimeout, err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return failure(octopus.KindConnect, err)
	}
	return failure(octopus.KindTLS, err)
}

// classify gives an error of the transport its kind. ctx is the request's.
func classify(ctx context.Context, err error) *octopus.Error {
	var own *octopus.Error
	var ne net.Error
	cause := context.Cause(ctx)
	switch {
	case errors.As(cause, new(*errLimit)), errors.As(cause, new(*errSlow)):
		return failure(octopus.KindTimeout, cause)
	case errors.Is(ctx.Err(), context.Canceled): // by the caller, whatever cause it gave
		return failure(octopus.KindCanceled, cause)
	case cause != nil:
		return failure(octopus.KindTimeout, cause)
	case errors.As(err, &own):
		return failure(own.Kind, own.Err)
	case errors.As(err, &ne) && ne.Timeout():
		return failure(octopus.KindTimeout, err)
	case broken(err):
		return failure(octopus.KindDisconnect, err)
	case tooLarge(err):
		return failure(octopus.KindTooLarge, err)
	}
	return failure(octopus.KindProtocol, err)
}

// broken reports whether the connection ended where it should not.
func broken(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection") ||
		strings.Contains(err.Error(), "stream error") || strings.Contains(err.Error(), "GOAWAY")
}

// tooLarge reports whether net/http gave up on the headers; its errors have no
// type of their own.
func tooLarge(err error) bool {
	return strings.Contains(err.Error(), "response headers exceeded") ||
		strings.Contains(err.Error(), "header list larger")
}
