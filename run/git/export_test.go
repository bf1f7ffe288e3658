package git

import "context"

// StaleLock is after how long a lock counts as left behind.
const StaleLock = staleLock

// Ref is the branch of a task.
func Ref(task string) string { return ref(task) }

// UpdateRef changes any reference.
func (r *Repository) UpdateRef(ctx context.Context, input string, args ...string) error {
	return r.git.updateRef(ctx, input, args...)
}
