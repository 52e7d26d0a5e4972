package motion

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/models"
	evalkeypose "mannequin/offline/eval/keypose"
	"mannequin/offline/retarget"
)

// inbetweenReport is the report of inbetween.
type inbetweenReport struct {
	Out     string  `json:"out"`
	Keys    int     `json:"keys"`
	Seconds float64 `json:"seconds"`
	Took    float64 `json:"took_s"`
	Missed  float64 `json:"keys_missed_cm"`  // largest distance of a joint from a whole keyframe of weight 1; −1 if there is none
	Slide   float64 `json:"slide_cm"`        // of standing feet, per frame; −1 without the network, which computes the contacts
	SlideBy float64 `json:"slide_before_cm"` // before the foot lock
}

func newInbetween() *cobra.Command {
	var model string
	var read retarget.Reading
	var hold, linear bool
	var threads int
	c := &cobra.Command{
		Use:   "inbetween KEYS.toml... --out OUT.bvh",
		Short: "Make the motion between keyframes",
		Long: `Make the motion of a person between keyframes and write it as BVH on the human skeleton: metres,
60 frames per second, from the first keyframe to the last. KEYS is a TOML file of tables [[key]],
in the order of time:

  time     second of the keyframe
  file     recording with the pose (BVH, FBX, glTF, AMC or TXT, of any skeleton), relative to KEYS;
           a recording of half a second or more is put on the ground
  at       second of the recording (0)
  place    x and z in metres of the hips on the ground (as recorded)
  heading  degrees to the left from +Z (as recorded)
  joints   names of the keyed joints, "root" for the height and tilt of the hips and "path" for
           their place and heading (all)
  weight   0 to 1: how closely the pose is followed; 1 is exact (1)
  weights  the same by joint: { LeftArm = 0.5 }

Tables [[path]] with time, place and heading (if missing, the direction of the path) make a smooth
path of the hips. The places of the keyframes are then ignored.

Feet that the network puts on the ground are locked there.`,
		Example: `  mannequin inbetween keys.toml --out between.bvh
  mannequin inbetween keys.toml --model mine.safetensors --feet=false --out between.bvh --json`,
	}
	cli.Converts(c, "a file of keyframes", ".bvh", func(cmd *cobra.Command, in, out string) (cli.Report, error) {
		m, err := models.OpenAs(model, keypose.NewModel)
		if err != nil {
			return nil, err
		}
		clips := map[string]*skel.Clip{}
		k, track, err := openKeys(in, m.Layout, read, clips)
		if err != nil {
			return nil, err
		}
		if err := command.Check(cmd, []string{out}, slices.Collect(maps.Keys(clips))); err != nil {
			return nil, err
		}
		return makeBetween(m, k, track, linear, hold && !linear, threads, out)
	})
	cli.Model(c, &model, "model", "human-keypose", "the network")
	input.Reading(c, &read)
	c.Flags().BoolVar(&linear, "interpolate", false, "interpolate without the network, to compare")
	c.Flags().BoolVar(&hold, "feet", true, "lock standing feet")
	cli.Threads(c, &threads)
	return c
}

func makeBetween(m *keypose.Model, k keypose.Keys, t *keypose.Track, linear, hold bool, threads int, out string) (*inbetweenReport, error) {
	maker, err := m.NewInbetweener(keypose.InbetweenerOptions{Workers: threads})
	if err != nil {
		return nil, err
	}
	defer maker.Close()
	begin := time.Now()
	stand := make([]float32, t.Frames*keypose.Feet)
	if linear {
		t.Interpolate()
	} else if err := maker.Fill(t, stand); err != nil {
		return nil, err
	}
	rep := &inbetweenReport{Out: out, Keys: len(k.Keys), Seconds: float64(t.Frames) / betweenRate}
	rep.SlideBy = slideOf(t.Clip(), stand)
	if hold {
		if err := evalkeypose.HoldFeet(t, stand); err != nil {
			return nil, err
		}
	}
	rep.Took = time.Since(begin).Seconds()
	clip := t.Clip()
	rep.Slide, rep.Missed = slideOf(clip, stand), missed(clip, k)
	if linear {
		rep.Slide, rep.SlideBy = -1, -1
	}
	return rep, writeClip(out, clip)
}

// standBits returns the standing feet of a frame, as [feet] wants them.
func standBits(stand []float32, f int) (bits uint8) {
	for i, v := range stand[f*keypose.Feet:][:keypose.Feet] {
		if v > 0.5 {
			bits |= 1 << i
		}
	}
	return bits
}

func slideOf(c *skel.Clip, stand []float32) float64 {
	var s slide
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		s.add(c.Skel, pos, rot, standBits(stand, f))
	}
	return s.mean()
}

// missed returns the largest distance of a joint from a keyframe, cm.
func missed(c *skel.Clip, k keypose.Keys) float64 {
	most := -1.0
	want, have := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	for _, key := range k.Keys {
		if key.Weight != nil || k.Path != nil {
			continue
		}
		f := int((key.Time-k.Keys[0].Time)*c.FPS + 0.5)
		c.Skel.LocalToModel(want, key.Pos, key.Rot)
		c.Model(have, f)
		for j := range want {
			most = max(most, 100*float64(want[j].Pos.Dist(have[j].Pos)))
		}
	}
	return most
}

func (r *inbetweenReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %.1f s of motion between %d keyframes, in %.0f ms\n", r.Out, r.Seconds, r.Keys, 1e3*r.Took)
	if r.Missed >= 0 {
		_, err = fmt.Fprintf(w, "whole poses are met to %.3f cm\n", r.Missed)
	}
	if r.Slide >= 0 {
		_, err = fmt.Fprintf(w, "standing feet slide %.3f cm/frame, before the foot lock %.3f\n", r.Slide, r.SlideBy)
	}
	return err
}
