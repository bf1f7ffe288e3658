package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cordelia/schemas"
)

// cookie is the name of the session's cookie. On TLS its prefix keeps other hosts of the
// domain from setting it.
func cookie(r *http.Request) string {
	if r.TLS != nil {
		return "__Secure-cordelia"
	}
	return "cordelia"
}

// showLogin asks for the one click that uses a link up: a GET changes nothing, and what
// looks at links before people do opens none.
func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.render(w, &visit{r: r}, http.StatusOK, view{template: "login", title: "Open the console",
		body: r.URL.Query().Get("code")})
}

// login turns a code into a session.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	session, err := c.node.OpenConsole(r.Context(), r.PostFormValue("code"))
	if err != nil {
		c.fail(w, &visit{r: r}, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie(r), Value: session.Token.Reveal(), Path: Root, HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode, Expires: time.UnixMicro(session.ExpiresAt)})
	http.Redirect(w, r, Root, http.StatusSeeOther)
}

// logout ends the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	v, ok := c.visitor(w, r)
	if !ok {
		return
	}
	if err := c.node.CloseConsole(r.Context(), v.caller.Principal); err != nil {
		c.fail(w, v, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie(r), Path: Root, MaxAge: -1, HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, Root+"login", http.StatusSeeOther)
}

// visitor is the person whose session a request shows; false once it is answered.
func (c *Console) visitor(w http.ResponseWriter, r *http.Request) (*visit, bool) {
	v := &visit{node: c.node, r: r}
	held, err := r.Cookie(cookie(r))
	if err == nil {
		v.caller.Principal, v.name, err = c.node.ConsoleSession(r.Context(), held.Value)
	}
	if errors.Is(err, http.ErrNoCookie) || over(err) {
		err = schemas.Errorf(schemas.CodeUnauthenticated, "you are not logged in, or your session is over").
			Try("run: cordelia console, and open the link it prints").Because(err)
	}
	if err != nil {
		c.fail(w, v, err)
		return nil, false
	}
	return v, true
}

// over reports whether an error says that a session is over. Any other says that this is not known now.
func over(err error) bool { return schemas.CodeOf(err) == schemas.CodeUnauthenticated }

// Known reports whether a request shows a session that may be good.
func (c *Console) Known(r *http.Request) bool {
	held, err := r.Cookie(cookie(r))
	if err != nil {
		return false
	}
	_, _, err = c.node.ConsoleSession(r.Context(), held.Value)
	return err == nil
}

// back is the page of this console that a form says it came from, else fallback.
func back(r *http.Request, fallback string) string {
	to, err := url.Parse(r.PostFormValue("back"))
	if err != nil || to.IsAbs() || to.Host != "" || !strings.HasPrefix(to.Path, Root) || strings.Contains(to.Path, `\`) {
		return Root + fallback
	}
	return to.RequestURI()
}
