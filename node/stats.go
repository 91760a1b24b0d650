package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"octopus/stats"
)

// Stats calls visit for the rows of statistics that a query selects, oldest
// first; also while Run is running. The query needs no prefix. A shared crawl has
// none: what an outcome means is decided in Redis.
func (n *Node) Stats(q stats.Query, visit func(stats.Row) error) error {
	if n.shared != nil {
		return errors.New("no statistics are kept of a crawl that is shared in Redis")
	}
	q.Prefix = prefixStats
	return stats.Read(n.store, q, visit)
}

// AskStats returns the rows of the crawl that runs in dir. The error wraps
// ErrNotRunning where there is none: then the directory can be opened.
func AskStats(ctx context.Context, dir string, q stats.Query) (rows []stats.Row, err error) {
	return rows, askRunning(ctx, dir, statsPath, q, &rows)
}

// tellStats answers AskStats.
func (n *Node) tellStats(w http.ResponseWriter, r *http.Request) {
	var q stats.Query
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, controlBody)).Decode(&q); err != nil {
		http.Error(w, "query: "+err.Error(), http.StatusBadRequest)
		return
	}
	rows := []stats.Row{}
	err := n.Stats(q, func(r stats.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(rows) // a client that went away needs no answer
}
