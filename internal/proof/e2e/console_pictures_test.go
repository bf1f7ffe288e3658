//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// mostBytes is how large a picture in the docs may be.
const mostBytes = 120_000

// pictures takes one of each kind of page.
func (p *pages) pictures(folder string, paths []string) {
	p.run(chromedp.EmulateViewport(1100, 720), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
		Name: "prefers-color-scheme", Value: "light"}}))
	taken := map[string]bool{}
	for _, path := range paths {
		name, _, _ := strings.Cut(path, "?")
		parts := strings.Split(name, "/")
		kind := cmp.Or(parts[0], "now")
		if len(parts) > 1 {
			kind += "-one"
		}
		if parts[len(parts)-1] == "replay" {
			kind = "replay"
		}
		if taken[kind] {
			continue
		}
		taken[kind] = true
		p.open(path)
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		require.NoError(p, encoder.Encode(&out, few(p.seen(), 250)))
		require.Less(p, out.Len(), mostBytes, kind)
		require.NoError(p, os.WriteFile(filepath.Join(folder, "console-"+kind+".png"), out.Bytes(), 0o644))
	}
}

// seen is what the browser shows.
func (p *pages) seen() image.Image {
	var raw []byte
	p.run(chromedp.CaptureScreenshot(&raw))
	shown, err := png.Decode(bytes.NewReader(raw))
	require.NoError(p, err)
	return shown
}

// few is a picture in its most frequent colours.
func few(from image.Image, colours int) *image.Paletted {
	at := from.Bounds()
	counts := map[color.RGBA]int{}
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			r, g, b, _ := from.At(x, y).RGBA()
			counts[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
		}
	}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return counts[b] - counts[a] })
	var palette color.Palette
	for _, c := range most[:min(colours, len(most))] {
		palette = append(palette, c)
	}
	to := image.NewPaletted(at, palette)
	draw.Draw(to, at, from, at.Min, draw.Src)
	return to
}

// The tour of the docs: what waits, who does what, why a result was refused, what an agent is
// trusted with, what memory holds, and the proof of the record. It is recorded where
// CORDELIA_PICTURES names a folder.
func TestTheTourOfThePages(t *testing.T) {
	p := openConsole(t)
	p.run(chromedp.EmulateViewport(800, 520))
	var frames []*image.Paletted
	stop := func(path, says string, do ...chromedp.Action) {
		p.open(path)
		p.run(do...)
		p.says(says)
		frames = append(frames, few(p.seen(), 128))
	}
	stop("", "Waits for you")
	stop("review", "What waits", chromedp.KeyEvent("j"))
	p.open("tasks")
	task := p.links("tasks/")[0]
	stop(task, "what each verdict rests on")
	stop(task+"/replay?step=3", "3 of ")
	stop("agents", "Status")
	stop("agents/gull", "verdict by verdict")
	stop("memory?q=harbour", "found by")
	stop("events", "Nothing was changed", chromedp.Click(`form[action$="verify"] button`))
	folder := os.Getenv("CORDELIA_PICTURES")
	if folder == "" {
		return
	}
	tour := gif.GIF{Image: frames}
	for range frames {
		tour.Delay = append(tour.Delay, 250)
	}
	var out bytes.Buffer
	require.NoError(t, gif.EncodeAll(&out, &tour))
	require.Less(t, out.Len(), 3*mostBytes)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "console-tour.gif"), out.Bytes(), 0o644))
}
