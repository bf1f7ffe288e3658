//go:build amd64 || arm64

package store

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// disk stands between SQLite and the files below one folder: it knows what has
// reached the disk and what only the operating system has, and can fail. It is
// SQLite's own unix VFS with the writing calls watched.
type disk struct {
	dir string

	mu    sync.Mutex
	files map[string]*diskFile
	ops   int // writes, syncs and truncations so far
	fault fault
}

type diskFile struct {
	synced  []byte               // what a power cut leaves
	pending []func(data *[]byte) // since the last sync
}

// image is the files as a power cut right now would leave them, in the worst
// case: nothing that was not synced.
func (d *disk) image() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string][]byte{}
	for path, f := range d.files {
		if !strings.HasSuffix(path, "-shm") {
			out[filepath.Base(path)] = append([]byte(nil), f.synced...)
		}
	}
	return out
}

// fault makes writing calls fail, counted from 1 when it is set.
type fault struct {
	from, to int
	code     int32 // SQLite's result code
}

// set breaks the disk; the zero fault heals it.
func (d *disk) set(f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.ops = f, 0
}

// reached counts the writing calls since set.
func (d *disk) reached() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// op records one writing call; a code other than 0 is to be its result.
func (d *disk) op(path string, change func(*[]byte)) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops++
	if d.fault.from <= d.ops && d.ops < d.fault.to {
		return d.fault.code
	}
	f := d.files[path]
	if f == nil {
		f = &diskFile{}
		d.files[path] = f
	}
	if change != nil {
		f.pending = append(f.pending, change)
		return 0
	}
	for _, change := range f.pending {
		change(&f.synced)
	}
	f.pending = nil
	return 0
}

// disks are the watched folders. SQLite calls back through plain function
// pointers, so what they look at has to be global.
var disks struct {
	once sync.Once
	mu   sync.RWMutex
	all  map[string]*disk
	open map[uintptr]openFile // by sqlite3_file
	unix uintptr              // the VFS below
	wrap map[uintptr]uintptr  // io methods: original to watched
}

type openFile struct {
	disk    *disk
	path    string
	methods uintptr
}

func watchDisk(t *testing.T, dir string) *disk {
	t.Helper()
	disks.once.Do(installDisk)
	d := &disk{dir: dir, files: map[string]*diskFile{}}
	disks.mu.Lock()
	defer disks.mu.Unlock()
	disks.all[dir] = d
	t.Cleanup(func() {
		disks.mu.Lock()
		defer disks.mu.Unlock()
		delete(disks.all, dir)
	})
	return d
}

func installDisk() {
	disks.all, disks.open, disks.wrap = map[string]*disk{}, map[uintptr]openFile{}, map[uintptr]uintptr{}
	tls := libc.NewTLS()
	disks.unix = sqlite3.Xsqlite3_vfs_find(tls, 0)
	size := unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})
	vfs := libc.Xmalloc(tls, libc.Tsize_t(size))
	v := (*sqlite3.Tsqlite3_vfs)(at(vfs))
	*v = *(*sqlite3.Tsqlite3_vfs)(at(disks.unix))
	name, err := libc.CString("watched")
	if err != nil {
		panic(err)
	}
	v.FzName = name
	*(*func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32)(unsafe.Pointer(&v.FxOpen)) = diskOpen
	if rc := sqlite3.Xsqlite3_vfs_register(tls, vfs, 1); rc != 0 {
		panic(rc)
	}
}

// at points into SQLite's memory, which Go's collector does not move.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func bytesAt(p uintptr, n int) []byte { return unsafe.Slice((*byte)(at(p)), n) }

// call makes a C function pointer callable.
func call[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

func diskOpen(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	below := (*sqlite3.Tsqlite3_vfs)(at(disks.unix))
	rc := call[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](below.FxOpen)(tls, disks.unix, name, file, flags, outFlags)
	if rc != 0 || name == 0 {
		return rc
	}
	path := libc.GoString(name)
	disks.mu.Lock()
	defer disks.mu.Unlock()
	d := disks.all[filepath.Dir(path)]
	if d == nil {
		return rc
	}
	f := (*sqlite3.Tsqlite3_file)(at(file))
	original := f.FpMethods
	watched, ok := disks.wrap[original]
	if !ok {
		size := unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})
		watched = libc.Xmalloc(tls, libc.Tsize_t(size))
		m := (*sqlite3.Tsqlite3_io_methods)(at(watched))
		*m = *(*sqlite3.Tsqlite3_io_methods)(at(original))
		*(*func(*libc.TLS, uintptr) int32)(unsafe.Pointer(&m.FxClose)) = diskClose
		*(*func(*libc.TLS, uintptr, uintptr, int32, int64) int32)(unsafe.Pointer(&m.FxWrite)) = diskWrite
		*(*func(*libc.TLS, uintptr, int64) int32)(unsafe.Pointer(&m.FxTruncate)) = diskTruncate
		*(*func(*libc.TLS, uintptr, int32) int32)(unsafe.Pointer(&m.FxSync)) = diskSync
		disks.wrap[original] = watched
	}
	disks.open[file] = openFile{disk: d, path: path, methods: original}
	f.FpMethods = watched
	return rc
}

// opened finds the file and the methods below.
func opened(file uintptr) (openFile, *sqlite3.Tsqlite3_io_methods) {
	disks.mu.RLock()
	defer disks.mu.RUnlock()
	f := disks.open[file]
	return f, (*sqlite3.Tsqlite3_io_methods)(at(f.methods))
}

func diskClose(tls *libc.TLS, file uintptr) int32 {
	_, m := opened(file)
	disks.mu.Lock()
	delete(disks.open, file)
	disks.mu.Unlock()
	return call[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, file)
}

func diskWrite(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	f, m := opened(file)
	data := append([]byte(nil), bytesAt(buf, int(n))...)
	if rc := f.disk.op(f.path, func(to *[]byte) {
		if end := int(offset) + len(data); end > len(*to) {
			*to = append(*to, make([]byte, end-len(*to))...)
		}
		copy((*to)[offset:], data)
	}); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, file, buf, n, offset)
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f, m := opened(file)
	if rc := f.disk.op(f.path, func(to *[]byte) {
		if int(size) < len(*to) {
			*to = (*to)[:size]
		}
	}); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, file, size)
}

func diskSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f, m := opened(file)
	if rc := f.disk.op(f.path, nil); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, file, flags)
}

// develop writes an image to a folder of its own and gives the database's path.
func develop(t *testing.T, image map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"n.db", "n.db-wal"} {
		if data, ok := maps.Clone(image)[name]; ok {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	return filepath.Join(dir, "n.db")
}
