package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// file is what the pages load, as it is and compressed.
type file struct {
	kind       string
	raw, small []byte
}

// kinds are the types of files by the end of their names.
func kinds() map[string]string {
	return map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml"}
}

// files are all that there are, read and compressed once.
func files() map[string]file {
	all := map[string]file{}
	list, err := fs.Glob(assets, "assets/*")
	for _, name := range list {
		var raw []byte
		if raw, err = fs.ReadFile(assets, name); err != nil {
			break
		}
		all[path.Base(name)] = file{kinds()[path.Ext(name)], raw, compressed(raw, gzip.BestCompression)}
	}
	if err != nil {
		panic(err) // they are in the program
	}
	return all
}

// serveFiles serves the files. A browser keeps them for an hour: they change with the
// program alone.
func serveFiles() http.HandlerFunc {
	all := sync.OnceValue(files)
	return func(w http.ResponseWriter, r *http.Request) {
		f, ok := all()[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "private, max-age=3600")
		w.Header().Set("Content-Type", f.kind)
		send(w, r, http.StatusOK, f.raw, func() []byte { return f.small })
	}
}

// send writes an answer, compressed if the browser takes that. Pages hold no token, so that
// their length gives none away.
func send(w http.ResponseWriter, r *http.Request, status int, raw []byte, small func() []byte) {
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		raw = small()
	}
	w.WriteHeader(status)
	w.Write(raw) //nolint:errcheck // the browser is gone
}

// compressed is a text as gzip.
func compressed(raw []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a level that there is, and memory
	}
	return out.Bytes()
}
