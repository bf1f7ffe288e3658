package ops_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A role that was taken out of the file and comes back is what the file says: in testing, not active; and
// one that is a draft there rests until a person resumes it.
func TestARoleComesBackAsTheFileSays(t *testing.T) {
	f := newFirm(t, company)
	cmo := "  - role_id: cmo\n    soul: You own marketing.\n    domains: [marketing]\n"
	without := strings.Replace(company, cmo, "", 1)
	for status, state := range map[string]string{"testing": "testing", "draft": "suspended", "active": "active"} {
		f.apply(company)
		f.SQL(`UPDATE roles SET state = 'active', reason = '' WHERE role_id = 'cmo'`)
		f.apply(without)
		f.apply(strings.Replace(company, "  - role_id: cmo\n", "  - role_id: cmo\n    status: "+status+"\n", 1))
		for _, r := range f.Must(f.person, "role_list", map[string]any{})["roles"].([]any) {
			if r := r.(map[string]any); r["role"] == "cmo" {
				require.Equal(t, state, r["state"])
				if status == "draft" {
					require.Equal(t, "cordelia role resume cmo", r["back"])
				}
			}
		}
	}
}
