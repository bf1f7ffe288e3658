package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is wrong with a request to a webhook is answered in one form, that of its route: another
// method than POST, and a body that is too large, whether it says so before or not.
func TestAWebhookAnswersInOneForm(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{Routes: Routes(nil)})
	said := func(resp *http.Response) map[string]any {
		t.Helper()
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		var out map[string]any
		require.NoError(t, json.Unmarshal(raw, &out), "%s", raw)
		return out
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		resp := h.do(t.Context(), method, "/hooks/crm", nil, "Authorization: ")
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, method)
		require.Equal(t, "POST", resp.Header.Get("Allow"))
		require.NotEmpty(t, said(resp)["message"])
	}
	body := bytes.Repeat([]byte(" "), maxMessage+1)
	resp := h.do(t.Context(), "POST", "/hooks/crm", body, "Authorization: ")
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	require.Equal(t, "the body is too large", said(resp)["message"])
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/hooks/crm",
		io.MultiReader(bytes.NewReader(body)))
	require.NoError(t, err)
	chunked, err := h.client.Do(req)
	require.NoError(t, err)
	defer chunked.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, chunked.StatusCode)
	require.Equal(t, "the body is too large", said(chunked)["message"])
}
