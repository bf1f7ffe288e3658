// Command release makes what is handed out: for each platform an archive of the
// program with what belongs to it, a list of the parts it was built from, and the
// checksums of all of them.
//
//	go run ./internal/proof/release -version v1.2.3 -out dist
//
// The same source, version and Go give the same bytes, wherever and whenever it
// runs: no archive names a time, a user or a folder of the machine it was made on.
// It refuses a version that is none, a folder that holds something, and a module
// without a licence.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
)

// platforms are what a release is built for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	o := options{}
	flag.StringVar(&o.version, "version", "", "version of the release, as v1.2.3")
	flag.StringVar(&o.out, "out", "dist", "folder to make")
	only := flag.String("platforms", platforms, "what to build for")
	flag.Parse()
	o.root, o.platforms = ".", strings.Split(*only, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err := release(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
