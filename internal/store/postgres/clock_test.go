package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// machine is a clock that stands still until the test moves it.
type machine struct{ now time.Time }

func (m *machine) Now() time.Time { return m.now }

func TestTheClockIsTheServers(t *testing.T) {
	nine := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := &machine{nine.Add(4 * time.Minute)} // four minutes ahead
	c := &Clock{Machine: m}
	assert.Equal(t, m.now, c.Now(), "before the server was asked")

	asked := m.now
	m.now = m.now.Add(10 * time.Millisecond) // the round trip
	c.Set(asked, nine.Add(5*time.Millisecond).UnixMicro())
	assert.Equal(t, nine.Add(10*time.Millisecond), c.Now().UTC())

	m.now = m.now.Add(-time.Hour) // somebody sets the machine's clock
	c.Set(m.now, nine.Add(time.Minute).UnixMicro())
	assert.Equal(t, nine.Add(time.Minute), c.Now().UTC())
}

// An answer that was held back does not make leases end early, or late: the clock is moved only
// where it cannot be right.
func TestASlowAnswerDoesNotMoveTheClock(t *testing.T) {
	nine := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := &machine{nine}
	c := &Clock{Machine: m}
	c.Set(m.now, nine.UnixMicro())
	for _, looked := range []time.Duration{0, 10 * time.Second} { // when the server looked at its clock
		asked := m.now
		m.now = m.now.Add(10 * time.Second)
		c.Set(asked, asked.Add(looked).UnixMicro())
		assert.Equal(t, m.now, c.Now().UTC())
	}
	asked := m.now
	m.now = m.now.Add(10 * time.Second)
	c.Set(asked, asked.Add(11*time.Second).UnixMicro())
	assert.Equal(t, m.now.Add(time.Second), c.Now().UTC(), "the server's clock was set")
}
