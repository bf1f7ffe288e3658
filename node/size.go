package node

import "os"

// StoreSize is what the database takes on the disk, in bytes.
type StoreSize struct {
	Database int64 `json:"database"`
	Log      int64 `json:"log"` // what is not yet in it
}

// StoreSize looks at the files of the database. What cannot be seen counts nothing.
func (n *Node) StoreSize() (s StoreSize) {
	for path, size := range map[string]*int64{n.Home.Database(): &s.Database, n.Home.Database() + "-wal": &s.Log} {
		if info, err := os.Stat(path); err == nil {
			*size = info.Size()
		}
	}
	return s
}
