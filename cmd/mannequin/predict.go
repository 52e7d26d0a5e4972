package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/animsys/strnn"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
)

func newPredict() *cobra.Command {
	var (
		model, out string
		at         float64
		seconds    float64
		threads    int
	)
	c := &cobra.Command{
		Use:   "predict RECORDING --out OUT.bvh",
		Short: "Go on from a person's motion",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(seconds > 0 && seconds <= 3600) {
				return command.Usagef("--seconds is %v, want more than 0, up to 3600", seconds)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			m, err := strnn.New(net)
			if err != nil {
				return err
			}
			rows, start, err := dataset.OpenPerson(args[0], m.Layout, m.Skel)
			if err != nil {
				return err
			}
			cols := m.Layout.Columns()
			half := make([]float32, len(rows)/cols/2*cols)
			strnn.Halve(half, rows, m.Layout)
			have := len(half) / cols
			if at > 0 {
				have = min(have, int(at*strnn.Rate))
			}
			if have < m.Encode {
				return fmt.Errorf("%s: %d frames at %d per second up to where it is to go on, want at least %d", args[0], have, strnn.Rate, m.Encode)
			}
			p, err := m.NewPredictor(strnn.PredictorOptions{Batch: 1, Workers: threads})
			if err != nil {
				return err
			}
			defer p.Close()
			frames := have + int(seconds*strnn.Rate)
			all := append(half[:have*cols:have*cols], make([]float32, (frames-have)*cols)...)
			begin := time.Now()
			if err := p.Extend(all, 1, have, frames); err != nil {
				return err
			}
			took := time.Since(begin)
			clip, err := m.Clip(all, strnn.Rate, feature.Place{Pos: start.Pos.Flat(), Yaw: start.Yaw})
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d frames at %d per second, %d of them recorded; %.0f frames/s\n", out, frames, strnn.Rate, have, float64(frames-have)/took.Seconds())
			return writeClip(out, clip)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "human-strnn", "a shipped model's `name`, or a model file")
	f.StringVarP(&out, "out", "o", "", "BVH `file` to write")
	f.Float64Var(&at, "at", 0, "second of the recording from which to go on; 0: its end")
	f.Float64Var(&seconds, "seconds", 10, "how long")
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "workers")
	must(c.MarkFlagRequired("out"))
	return c
}

func writeClip(path string, c *skel.Clip) error {
	return atomicfile.Write(path, func(w io.Writer) error { return mocap.WriteClip(w, c) })
}
