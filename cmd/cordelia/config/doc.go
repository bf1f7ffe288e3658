// Package config reads config.json, the optional file of settings in a home, and what it
// names: models that are asked over HTTP, the prices that the user writes down.
//
// It refuses a setting that it does not know, one that stands there twice, and a file that
// other users may write: settings can switch commands on.
package config
