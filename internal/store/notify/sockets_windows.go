package notify

// sockets: Windows has no unix datagrams; listening processes poll.
type sockets struct{ dir string }

func (s *sockets) Listen(func()) error { return nil }
func (s *sockets) Send()               {}
func (s *sockets) Unlisten()           {}
func (s *sockets) Close()              {}

// Discard does nothing: there are no sockets.
func Discard(string) {}
