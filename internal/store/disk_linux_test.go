//go:build amd64 || arm64

package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
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
	sync  func() // called once, before the next sync
}

type diskFile struct {
	synced  []byte   // what a power cut leaves
	pending []change // since the last sync
}

// change is a write, or a truncation to a size.
type change struct {
	at    int
	data  []byte // nil: a truncation
	given bool   // up: a sync of it failed, and the next one no longer brings it
}

// sector is what a disk writes wholly or not at all, in bytes.
const sector = 512

// apply makes what of the change is kept.
func (c change) apply(to *[]byte, kept func() bool) {
	if c.data == nil {
		if c.at < len(*to) && kept() {
			*to = (*to)[:c.at]
		}
		return
	}
	for from := 0; from < len(c.data); {
		end := min(len(c.data), from+sector-(c.at+from)%sector)
		if kept() {
			if missing := c.at + end - len(*to); missing > 0 {
				*to = append(*to, make([]byte, missing)...)
			}
			copy((*to)[c.at+from:], c.data[from:end])
		}
		from = end
	}
}

// image is the files as a power cut right now would leave them: what was
// synced, and of the rest those sectors, in no order, that kept says.
func (d *disk) image(kept func() bool) map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string][]byte{}
	for path, f := range d.files {
		if strings.HasSuffix(path, "-shm") {
			continue
		}
		data := append([]byte(nil), f.synced...)
		for _, c := range f.pending {
			c.apply(&data, kept)
		}
		out[filepath.Base(path)] = data
	}
	return out
}

// fault makes writing calls fail, counted from 1 when it is set.
type fault struct {
	from, to int
	code     int32 // SQLite's result code
	kill     bool  // end this process instead
}

// set breaks the disk; the zero fault heals it.
func (d *disk) set(f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.ops = f, 0
}

// onSync has f called before the next sync.
func (d *disk) onSync(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sync = f
}

// syncs calls what onSync was given.
func (d *disk) syncs() {
	d.mu.Lock()
	f := d.sync
	d.sync = nil
	d.mu.Unlock()
	if f != nil {
		f()
	}
}

// reached counts the writing calls since set.
func (d *disk) reached() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// op records one writing call; a code other than 0 is to be its result.
func (d *disk) op(path string, c *change) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops++
	if d.fault.from <= d.ops && d.ops < d.fault.to {
		if d.fault.kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // nothing could be told
			select {}
		}
		if f := d.files[path]; f != nil && c == nil {
			for i := range f.pending {
				f.pending[i].given = true
			}
		}
		return d.fault.code
	}
	f := d.files[path]
	if f == nil {
		f = &diskFile{}
		d.files[path] = f
	}
	if c != nil {
		f.pending = append(f.pending, *c)
		return 0
	}
	for _, c := range f.pending {
		c.apply(&f.synced, func() bool { return !c.given })
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
	d := newDisk(dir)
	t.Cleanup(func() {
		disks.mu.Lock()
		defer disks.mu.Unlock()
		delete(disks.all, dir)
	})
	return d
}

func newDisk(dir string) *disk {
	disks.once.Do(installDisk)
	d := &disk{dir: dir, files: map[string]*diskFile{}}
	disks.mu.Lock()
	defer disks.mu.Unlock()
	disks.all[dir] = d
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
	rc := call[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](below.FxOpen)(tls, disks.unix, name,
		file, flags, outFlags)
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
	if rc := f.disk.op(f.path, &change{at: int(offset), data: data}); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, file, buf, n, offset)
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f, m := opened(file)
	if rc := f.disk.op(f.path, &change{at: int(size)}); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, file, size)
}

func diskSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f, m := opened(file)
	f.disk.syncs()
	if rc := f.disk.op(f.path, nil); rc != 0 {
		return rc
	}
	return call[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, file, flags)
}

// develop writes an image to dir, in the place of the one before, and gives the
// database's path.
func develop(t *testing.T, dir string, image map[string][]byte) string {
	t.Helper()
	for _, name := range []string{"n.db", "n.db-wal", "n.db-shm"} {
		os.Remove(filepath.Join(dir, name)) //nolint:errcheck // of the last image
		if data, ok := image[name]; ok {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	return filepath.Join(dir, "n.db")
}
