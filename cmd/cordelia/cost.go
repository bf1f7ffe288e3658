package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

func costCommand(a *cli.App) *cobra.Command {
	var by string
	var days int
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what your coding client took to fill the seats of tasks",
		Long: `Show the calls of coding clients that cordelia run made, with their tokens and what they
cost in US dollars: as the client counts it, else by the prices that you wrote down in
prices.json of the home folder. What has no price is said, not guessed.`,
		Example: "  cordelia cost\n  cordelia cost --by role --days 7",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || days > 3660 {
				return schemas.Invalidf("--days %d is out of range", days).Expecting("1 to 3660")
			}
			home, err := a.AbsoluteHome()
			if err != nil {
				return err
			}
			prices, err := config.ReadPrices(home)
			if err != nil {
				return err
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				list, err := w.Node.Costs(cmd.Context(), w.Caller, work.CostKey(by), time.Now().AddDate(0, 0, -days),
					prices.Cost)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"by": by, "costs": list})
				}
				showCosts(a, work.CostKey(by), list)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", string(work.ByTask), "sum up by: "+schemas.Joined(work.CostKeys()))
	cmd.Flags().IntVar(&days, "days", 30, "of so many days")
	return cmd
}

func showCosts(a *cli.App, by work.CostKey, list []work.Cost) {
	if len(list) == 0 {
		a.Say("No client filled a seat in that time.")
		return
	}
	t := cli.Table{Firm: 7, Head: []string{"RUNS", "FAILED", "IN", "CACHED", "OUT", "COST", "OF"}}
	for _, c := range list {
		price := cost.Money(c.Cost)
		if c.Unpriced > 0 {
			price += fmt.Sprintf(" + %d unpriced", c.Unpriced)
		}
		key := cli.Clean(cmp.Or(c.Key, "(unassigned)"))
		if by == work.ByTask {
			key = schemas.ShortID(key)
		}
		t.Add(cli.Text(fmt.Sprint(c.Runs)), cli.Text(fmt.Sprint(c.Failed)),
			cli.Text(fmt.Sprint(c.Input+c.Cached+c.Written)),
			cli.Text(fmt.Sprint(c.Cached)), cli.Text(fmt.Sprint(c.Output)), cli.Styled(price, cli.Bold), cli.Text(key))
	}
	a.Print(t)
}
