package schemas

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeant(t *testing.T) {
	tools := []string{"memory_delete_warm", "memory_group", "memory_read_hot", "memory_read_warm", "memory_search",
		"memory_write_hot", "memory_write_warm", "task_claim"}
	for said, want := range map[string][]string{
		"memory_write":  {"memory_write_hot", "memory_write_warm"},
		"memory_read":   {"memory_read_hot", "memory_read_warm"},
		"memory_delete": {"memory_delete_warm"},
		"search_memory": {"memory_search"},
		"claim_task":    {"task_claim"},
		"memory_grup":   {"memory_group"},
		"bash":          nil,
	} {
		require.Equal(t, want, Meant(said, tools), said)
	}
}
