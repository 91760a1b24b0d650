package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// inspectCmd shows the pieces on their own. Each reads arguments or, with -,
// JSON lines from standard input, and writes one JSON line for each input. Bad
// input is answered {"error":…} in its place and does not end the stream; the
// exit code is 0 then, because everything was answered.
func (a *app) inspectCmd() *cobra.Command {
	return group("inspect", "Try the pieces on their own: URLs, robots.txt, pages (JSON lines)", "",
		a.inspectURLCmd(), a.inspectRobotsCmd(), a.inspectPageCmd())
}

// maxLine bounds a line of standard input, and so the memory of a stream.
const maxLine = 64 << 20

// inputError is the answer to input that could not be read.
type inputError struct {
	Input string `json:"input,omitempty"` // the beginning of the line
	Error string `json:"error"`
}

// stream answers each JSON line of r with one JSON line, in order. As many
// lines as there are processors are answered at once; answers are flushed
// whenever none is under way, so that a script may ask and wait.
func stream(r io.Reader, w io.Writer, answer func(line []byte) any) error {
	pending := make(chan chan any, runtime.GOMAXPROCS(0)) // answers in the order of their lines
	written := make(chan error, 1)                        // what the writer ended with
	go func() { written <- writeAnswers(w, pending) }()
	err := readLines(r, func(line []byte) bool {
		a := make(chan any, 1)
		select {
		case pending <- a:
			go func() { a <- answerLine(line, answer) }()
			return true
		case err := <-written: // nobody reads on: stop
			written <- err
			return false
		}
	})
	close(pending)
	return errors.Join(err, <-written)
}

// writeAnswers writes answers until there are no more, or writing fails.
func writeAnswers(w io.Writer, pending <-chan chan any) error {
	out := newJSONLines(w)
	for a := range pending {
		if err := out.encode(<-a); err != nil {
			return err
		}
		if len(pending) == 0 {
			if err := out.w.Flush(); err != nil {
				return err
			}
		}
	}
	return out.w.Flush()
}

// readLines gives each line that is not empty to each, until that returns
// false. The line belongs to each.
func readLines(r io.Reader, each func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if len(line) > 0 && !each(line) || err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func answerLine(line []byte, answer func([]byte) any) any {
	if len(line) > maxLine {
		return inputError{beginning(line), fmt.Sprintf("line longer than %d MiB", maxLine>>20)}
	}
	return answer(line)
}

// readLine returns a line without its end; empty lines are nil. Of a line
// longer than maxLine it returns the first maxLine+1 bytes and skips the rest.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		if err != bufio.ErrBufferFull {
			return trimLine(line), err
		}
	}
}

func trimLine(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

func beginning(line []byte) string { return string(line[:min(len(line), 80)]) }

// decodeLine reads one JSON object into v; the error is ready to be an answer.
func decodeLine(line []byte, v any) *inputError {
	if err := json.Unmarshal(line, v); err != nil {
		return &inputError{beginning(line), "bad input line: " + err.Error()}
	}
	return nil
}

// jsonLines writes one JSON object a line, with <, > and & as they are.
type jsonLines struct {
	w   *bufio.Writer
	enc *json.Encoder
}

func newJSONLines(w io.Writer) jsonLines {
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return jsonLines{buf, enc}
}

func (j jsonLines) encode(v any) error { return j.enc.Encode(v) }
