package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cordelia/schemas"
)

const maxHeader = 64 << 10 // bytes

// Parse checks an address, such as https://HOST/v1. Errors: CodeInvalid, which begin with
// the setting that names it.
func Parse(setting, address string) (*url.URL, error) {
	refuse := func(what, expected string) (*url.URL, error) {
		return nil, schemas.Invalidf("%s: %s", setting, what).Expecting("%s", expected)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return refuse("url is no address", "for example http://127.0.0.1:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return refuse("url carries a name, password, query or fragment",
			"the address alone; the key comes from key_env or key_file")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("url is neither https nor http", "https://HOST/v1, or http:// for this machine")
	case u.Scheme == "http" && !Loopback(u):
		return refuse("url is plain http to another machine",
			"https://, because texts and the key would be readable on the way")
	}
	return u, nil
}

// Loopback reports whether an address names this machine, so that no text leaves it.
func Loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// NewClient makes a client for one address with at most atOnce connections, 0 = no limit. It
// follows no redirect. Plain HTTP goes to loopback addresses only, also when a name resolves to
// another. The caller's context limits the time.
func NewClient(to *url.URL, atOnce int) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxConnsPerHost: atOnce, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
	if to.Scheme == "http" {
		dialer.Control = onlyLoopback
	} else {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Answers asks a server for anything at all, for at most five seconds.
func Answers(ctx context.Context, at *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, at.Scheme+"://"+at.Host, nil)
	if err != nil {
		return err
	}
	answer, err := NewClient(at, 1).Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// onlyLoopback refuses to connect to another machine.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errors.New("plain http goes to this machine alone")
	}
	return nil
}

// Reason is what went wrong below HTTP. Other errors may quote the server.
func Reason(err error) error {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return e
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e
	}
	return errors.New("the exchange broke off")
}

// longest is the longest wait that a server can ask for.
const longest = 24 * time.Hour

// RetryAfter reads the header of RFC 9110 §10.2.3: seconds, or a date.
func RetryAfter(h string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(h); err == nil && n > 0 {
		return min(time.Duration(min(n, 1<<30))*time.Second, longest)
	}
	if t, err := http.ParseTime(h); err == nil {
		return max(0, min(t.Sub(now), longest))
	}
	return 0
}
