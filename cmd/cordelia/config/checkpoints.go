package config

import "cordelia/node"

// CheckpointFolders are where the home's checkpoints are.
func CheckpointFolders(home node.Home) ([]string, error) {
	s, err := Read(home)
	if err != nil {
		return nil, Unusable(home, err)
	}
	return append([]string{home.Checkpoints()}, s.CheckpointDirs...), nil
}
