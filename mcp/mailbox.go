package mcp

import (
	"sync"
	"sync/atomic"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// mailboxSize is how many notifications wait for a pump before the registry sees the channel as
// blocked.
const mailboxSize = 256

// mailbox turns the registry's way of sending notifications, a channel written
// without waiting, into ordered delivery: flush and close return only once
// everything sent before them was delivered.
//
// The pump starts with the first sender, so a request that sends nothing costs
// nothing.
type mailbox struct {
	deliver func(sdk.JSONRPCNotification)

	start   sync.Once
	started atomic.Bool
	late    sync.Once // a send after close gets a channel that is never read
	ch      chan sdk.JSONRPCNotification
	flushes chan chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

func newMailbox(deliver func(sdk.JSONRPCNotification)) *mailbox {
	return &mailbox{deliver: deliver}
}

// sink is the channel to send to. Sending after close goes nowhere.
func (m *mailbox) sink() chan<- sdk.JSONRPCNotification {
	m.start.Do(func() {
		m.ch = make(chan sdk.JSONRPCNotification, mailboxSize)
		m.flushes = make(chan chan struct{})
		m.stop = make(chan struct{})
		m.done = make(chan struct{})
		m.started.Store(true)
		go m.pump()
	})
	m.late.Do(func() {
		if m.ch == nil {
			m.ch = make(chan sdk.JSONRPCNotification, mailboxSize)
		}
	})
	return m.ch
}

func (m *mailbox) pump() {
	defer close(m.done)
	for {
		select {
		case n := <-m.ch:
			m.deliver(n)
		case flushed := <-m.flushes:
			m.drain()
			close(flushed)
		case <-m.stop:
			m.drain()
			return
		}
	}
}

func (m *mailbox) drain() {
	for {
		select {
		case n := <-m.ch:
			m.deliver(n)
		default:
			return
		}
	}
}

// flush waits until all that was sent before has been delivered.
func (m *mailbox) flush() {
	if !m.started.Load() {
		return
	}
	flushed := make(chan struct{})
	select {
	case m.flushes <- flushed:
		<-flushed
	case <-m.done:
	}
}

// close delivers what is left and ends the pump. It must be called once, by
// the owner, and only stray senders may outlive it.
func (m *mailbox) close() {
	m.start.Do(func() {}) // no pump any more
	if m.started.Load() {
		close(m.stop)
		<-m.done
	}
}
