package console

import (
	"context"

	"cordelia/ops"
	"cordelia/review"
	"cordelia/schemas"
)

// reviewsPage lists what waits for the person's decision.
type reviewsPage struct {
	Waiting []review.Entry
	Cursor  string
}

func reviews(ctx context.Context, v *visit) (view, error) {
	in := map[string]any{"limit": 50}
	if cursor := v.r.URL.Query().Get("cursor"); cursor != "" {
		in["cursor"] = cursor
	}
	out, err := ask[ops.ReviewListOut](ctx, v, "review_list", in)
	return view{template: "reviews", title: "Review", body: reviewsPage{out.Waiting, out.NextCursor}}, err
}

func oneReview(ctx context.Context, v *visit) (view, error) {
	id := v.r.PathValue("id")
	out, err := ask[ops.ReviewListOut](ctx, v, "review_list", map[string]any{"ids": []string{id}})
	if err != nil {
		return view{}, err
	}
	if len(out.Waiting) == 0 {
		return view{}, schemas.NotFoundf("nothing waits under %s", schemas.ShortID(id)).Try("go back to what waits")
	}
	return view{template: "review", title: out.Waiting[0].Name, body: out.Waiting[0]}, nil
}

// decide approves or rejects what waits, by the hash that the page showed.
func decide(ctx context.Context, v *visit) (string, error) {
	d := map[string]any{"id": v.r.PostFormValue("of"), "decision": v.r.PostFormValue("decision")}
	for _, name := range []string{"hash", "reason"} {
		if value := v.r.PostFormValue(name); value != "" {
			d[name] = value
		}
	}
	_, err := ask[ops.ReviewDecideOut](ctx, v, "review_decide", map[string]any{"decisions": []any{d}})
	return back(v.r, "review"), err
}
