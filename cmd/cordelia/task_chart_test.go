package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// rounds makes rounds of these values of D and L.
func rounds(values ...[2]float64) (list []controller.RoundView) {
	for i, v := range values {
		list = append(list, controller.RoundView{Round: i + 1, Loss: schemas.Loss{D: v[0], L: v[1]}})
	}
	return list
}

func TestChart(t *testing.T) {
	golden(t, "chart.golden", chart(rounds([2]float64{1, 0.921}, [2]float64{0.75, 0.6}, [2]float64{0.5, 0.004},
		[2]float64{0, 0.24}), 0)+
		"\n"+chart(rounds([2]float64{1, 1.3}), 0)) // a loss above 1 moves the scale
}

// A chart fits every terminal, and shows the newest rounds where not all fit.
func TestChartFits(t *testing.T) {
	for n := 1; n <= 40; n++ {
		list := rounds(make([][2]float64, n)...)
		for i := range list {
			list[i].D, list[i].L = float64(i%5)/4, float64(i%7)/6
		}
		for _, width := range []int{0, 12, 40, 80, 200} {
			most := width
			if width == 0 || width > chartWidth {
				most = chartWidth
			}
			got := strings.Split(chart(list, width), "\n")
			require.Len(t, got, chartRows+4)
			for _, l := range got {
				require.LessOrEqual(t, cli.Measure(l), most, "%d rounds, %d columns: %s", n, width, l)
			}
			numbers := strings.Fields(got[chartRows+2])
			require.Equal(t, strconv.Itoa(n), numbers[len(numbers)-1], "the last round shows")
			require.Equal(t, len(numbers), strings.Count(got[chartRows+1], "L"))
		}
	}
}

// A bar is as high as its value, to an eighth of a row.
func TestChartHeight(t *testing.T) {
	for parts := 0; parts <= 8*chartRows; parts++ {
		share, height := float64(parts)/(8*chartRows), 0
		for row := 1; row <= chartRows; row++ {
			height += slices.Index(eighths, []rune(filled(share, row))[0])
		}
		require.Equal(t, parts, height)
	}
	require.Equal(t, "▁", filled(0.0001, 1), "little is not nothing")
	require.Equal(t, " ", filled(0, 1))
	require.Equal(t, "█", filled(7, chartRows))
}
