package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/review"
	"cordelia/schemas"
)

// askReviews shows one thing that waits after the other, whole, and does what the
// person answers. An approval names the hash of what was just shown.
func askReviews(ctx context.Context, w *cli.Acting) error {
	in := bufio.NewReader(w.In)
	cursor, asked := "", 0
	for {
		args := map[string]any{}
		if cursor != "" {
			args["cursor"] = cursor
		}
		page, err := reviews(ctx, w, args)
		if err != nil {
			return err
		}
		var ids []string
		for _, r := range page.Waiting {
			ids = append(ids, r.ID)
		}
		ids = append(ids, page.LeftOut...) // of the page, for its size; they wait as well
		for _, id := range ids {
			asked++
			whole, err := reviews(ctx, w, map[string]any{"ids": []string{id}})
			if errors.Is(err, schemas.ErrNotFound) {
				continue // another reviewer decided meanwhile
			}
			if err != nil {
				return err
			}
			showReview(w.App, whole.Waiting[0])
			goOn, err := askReview(ctx, w, in, whole.Waiting[0])
			if err != nil || !goOn {
				return err
			}
			w.Say("")
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if asked == 0 {
		w.Say("No review waits for you.")
	}
	return nil
}

func reviews(ctx context.Context, w *cli.Acting, args map[string]any) (ops.ReviewListOut, error) {
	return cli.Ask[ops.ReviewListOut](ctx, w, "review_list", args)
}

// askReview asks about r until it gets an answer it knows; goOn is false when the
// person has had enough.
func askReview(ctx context.Context, w *cli.Acting, in *bufio.Reader, r review.Entry) (goOn bool, err error) {
	for {
		fmt.Fprint(w.Out, "approve, reject, skip or quit? [a/r/s/q] ")
		line, err := cli.Answer(w.App, func() (string, error) { return in.ReadString('\n') })
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		word := ""
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "a", "approve":
			word = "approve"
		case "r", "reject":
			word = "reject"
		case "s", "skip":
			return true, nil
		case "q", "quit":
			return false, nil
		default:
			continue
		}
		answer, err := w.Call(ctx, "review_decide",
			map[string]any{"decisions": []any{decision(r.ID, word, r.Hash, "")}})
		if err != nil {
			w.Complain(err) // the others still wait
			return true, nil
		}
		return true, cli.Shown(showDecided)(w.App, answer)
	}
}
