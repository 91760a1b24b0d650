package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// A running crawl has its state directory locked; what changes its boards goes
// to it. It listens on a loopback address, and writes the address and a token,
// for the owner of the directory alone, to a file there.

// controlFile is the name of that file.
const controlFile = "control"

// control is what it holds, as JSON.
type control struct {
	Address string `json:"address"`
	Token   string `json:"token"`
}

// controlTime bounds one command: a recheck of a million pages takes a minute.
const controlTime = 10 * time.Minute

// controlBody bounds a command in bytes.
const controlBody = 4 << 20

// startControl listens for commands until the function it returns is called.
func (n *Node) startControl() (stop func(), err error) {
	if n.opt.Control == nil || n.cfg.Store.Discard {
		return func() {}, nil
	}
	l, err := n.opt.Control()
	if err != nil {
		return nil, fmt.Errorf("listen for octopus board: %w", err)
	}
	c := control{l.Addr().String(), rand.Text()}
	value, err := json.Marshal(c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	path := filepath.Join(n.cfg.Dir, controlFile)
	if err := os.WriteFile(path, value, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for octopus board: %w", err), l.Close())
	}
	running, cancel := context.WithCancel(context.Background())
	srv := &http.Server{Handler: n.controlHandler(c.Token), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return running }}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(l) // ends with Shutdown
	}()
	return func() {
		os.Remove(path)
		cancel()
		srv.Shutdown(context.Background()) // waits for the commands under way: they use the stores
		<-served
	}, nil
}

func (n *Node) controlHandler(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			http.Error(w, "wrong token", http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case doctorPath:
			n.tellDiagnosis(w, r)
			return
		case operatePath:
			n.tellOperation(w, r)
			return
		case statsPath:
			n.tellStats(w, r)
			return
		}
		var c BoardCommand
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, controlBody)).Decode(&c); err != nil {
			http.Error(w, "command: "+err.Error(), http.StatusBadRequest)
			return
		}
		var a controlAnswer
		var err error
		if a.BoardAnswer, err = n.DoBoard(r.Context(), c); err != nil {
			a.Error = err.Error()
			var bad *ConfigError
			if errors.As(err, &bad) {
				a.Key, a.Error = bad.Key, bad.Text
			}
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(a) // a client that went away needs no answer
	})
}

// tellDiagnosis answers AskDiagnosis.
func (n *Node) tellDiagnosis(w http.ResponseWriter, r *http.Request) {
	d, err := n.Diagnose(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(d)
}

// tellOperation answers AskOperation.
func (n *Node) tellOperation(w http.ResponseWriter, r *http.Request) {
	var o Operation
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, controlBody)).Decode(&o); err != nil {
		http.Error(w, "operation: "+err.Error(), http.StatusBadRequest)
		return
	}
	var a operationAnswer
	var err error
	if a.Changed, err = n.Operate(r.Context(), o); err != nil {
		a.Error = err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(a)
}

// controlAnswer is a BoardAnswer or an error on its way.
type controlAnswer struct {
	BoardAnswer
	Error string `json:"error,omitempty"`
	Key   string `json:"key,omitempty"` // of a *ConfigError
}

// ErrNotRunning is what AskRunning returns where no crawl runs.
var ErrNotRunning = errors.New("no crawl runs in the state directory")

// AskRunning has the crawl that runs in dir carry out a command. The error wraps
// ErrNotRunning where there is none: then the directory can be opened.
func AskRunning(ctx context.Context, dir string, c BoardCommand) (BoardAnswer, error) {
	var a controlAnswer
	if err := askRunning(ctx, dir, boardPath, c, &a); err != nil {
		return BoardAnswer{}, err
	}
	switch {
	case a.Key != "":
		return BoardAnswer{}, &ConfigError{a.Key, a.Error}
	case a.Error != "":
		return BoardAnswer{}, errors.New(a.Error)
	}
	return a.BoardAnswer, nil
}

// AskDiagnosis has the crawl that runs in dir tell what holds it up. The error
// wraps ErrNotRunning where there is none.
func AskDiagnosis(ctx context.Context, dir string) (d Diagnosis, err error) {
	return d, askRunning(ctx, dir, doctorPath, struct{}{}, &d)
}

// What a running crawl can be asked for.
const (
	boardPath   = "/board"
	doctorPath  = "/doctor"
	operatePath = "/operate"
	statsPath   = "/stats"
)

// askRunning posts a command to the crawl that runs in dir, and decodes its
// answer.
func askRunning(ctx context.Context, dir, path string, command, answer any) error {
	value, err := os.ReadFile(filepath.Join(dir, controlFile))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRunning
	}
	if err != nil {
		return err
	}
	var to control
	if json.Unmarshal(value, &to) != nil || to.Address == "" {
		return ErrNotRunning // it was cut off when it was written
	}
	body, err := json.Marshal(command)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, controlTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+to.Address+path, bytes.NewReader(body))
	if err != nil {
		return ErrNotRunning
	}
	req.Header.Set("Authorization", "Bearer "+to.Token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		var refused *net.OpError
		if errors.As(err, &refused) && refused.Op == "dial" {
			return fmt.Errorf("%w: %w", ErrNotRunning, err) // it was killed and left the file
		}
		return fmt.Errorf("ask the running crawl: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUnauthorized {
		return ErrNotRunning // another program has the port now
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return fmt.Errorf("ask the running crawl: %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<20)).Decode(answer); err != nil {
		return fmt.Errorf("ask the running crawl: %w", err)
	}
	return nil
}
