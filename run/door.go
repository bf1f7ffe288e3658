package run

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"

	"cordelia/run/git"
	"cordelia/schemas"
)

// connection is a worker's, to its MCP server.
type connection = net.Conn

// door is a unix socket in a private folder: behind it the runner serves MCP as the agent
// of one worker, which holds no key, token or path of the node's. It serves the processes
// of that worker's client alone: other workers of the user may reach the socket
// (INV-DOOR).
type door struct {
	folder, path string
	remove       func() // the folder
	family       *family
	listener     net.Listener
	stop         context.CancelFunc
	serving      sync.WaitGroup
}

// openDoor serves each connection until the door is closed.
func openDoor(serve func(context.Context, connection) error) (*door, error) {
	folder, remove, err := git.TempFolder("door")
	if err != nil {
		return nil, err
	}
	d := &door{folder: folder, remove: remove, path: filepath.Join(folder, "mcp"), family: &family{}}
	if d.listener, err = net.Listen("unix", d.path); err != nil {
		remove()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.serving.Go(func() {
		for {
			conn, err := d.listener.Accept()
			if err != nil {
				return
			}
			d.serving.Go(func() {
				defer conn.Close()                                      //nolint:errcheck // it is over
				defer context.AfterFunc(ctx, func() { conn.Close() })() //nolint:errcheck // unblocks the reader
				if d.family.admits(conn) {
					serve(ctx, conn) //nolint:errcheck // its client has seen why
				}
			})
		}
	})
	return d, nil
}

// close ends every connection.
func (d *door) close() {
	d.stop()
	d.listener.Close() //nolint:errcheck // no client connects any more
	d.serving.Wait()
	d.remove()
}

// Knock joins in and out to a door until either ends. The process that knocks holds no key and
// opens no database: who acts is decided behind the door.
func Knock(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "nothing answers at %s", path).
			Try("it is there while cordelia run has a worker: start nothing by hand").Because(err)
	}
	defer conn.Close()                                      //nolint:errcheck // it is over
	defer context.AfterFunc(ctx, func() { conn.Close() })() //nolint:errcheck // unblocks the reader
	go func() {
		io.Copy(conn, in) //nolint:errcheck // the other side sees the end
		if c, ok := conn.(*net.UnixConn); ok {
			c.CloseWrite() //nolint:errcheck // it is over
		}
	}()
	if _, err = io.Copy(out, conn); errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
