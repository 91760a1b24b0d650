//go:build !unix

package seen

import "errors"

var errNotUnix = errors.New("mapped filters need a Unix system: leave Mapped out")

func (l *layer) createMapped(string) error { return errNotUnix }

func openMapped(string) (*layer, error) { return nil, errNotUnix }
