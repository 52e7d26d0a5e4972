package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	model "mannequin/animsys/latent"
	"mannequin/engine/stage"
	"mannequin/internal/atomicfile"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
	"mannequin/scenes"
	"mannequin/scenes/latent"
	"mannequin/terrain"
)

// sliders builds the scene latent.
func (o *options) sliders(ground *terrain.Field, open netruntime.Opener) (scenes.Scene, error) {
	net, err := models.Open(o.latent)
	if err != nil {
		return nil, err
	}
	m, err := model.New(net)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", o.latent, err)
	}
	opt := latent.Options{Model: m, Agents: o.agents, Terrain: ground, Seed: o.seed, BF16: o.bf16, Open: open}
	if o.agents == 0 {
		return latent.New(opt)
	}
	if opt.Next, err = models.Open(o.next); err != nil {
		return nil, err
	}
	s, err := latent.New(opt)
	if err != nil {
		return nil, fmt.Errorf("--latent %s with --next %s: %w", o.latent, o.next, err)
	}
	return s, nil
}

// touch gives keys their meaning for a panel, beside what the mouse does to it. hit
// has those that were pressed since the last tick.
func touch(p *scenes.Panel, mouse scenes.Touch, c stage.Controls, hit [stage.Keys]bool) scenes.Touch {
	t := mouse
	for _, k := range []struct {
		key  stage.Key
		step int
	}{{stage.KeyUp, -1}, {stage.KeyDown, 1}} {
		if hit[k.key] {
			t.Select += k.step
		}
	}
	for _, k := range []struct {
		key stage.Key
		by  float32
	}{{stage.KeyLeft, -1}, {stage.KeyRight, 1}} {
		if c.Held[k.key] || hit[k.key] {
			t.Move += k.by
		}
	}
	for _, b := range p.Buttons {
		if hit[stage.Letter(b.Key)] {
			t.Press = b.Key
		}
	}
	return t
}

// export writes the motion that a scene's player asks for, and tells of it: what
// fails does not end the scene.
type export struct {
	path string // of a BVH file
	told string // about the last one
}

// take writes the motion, if one is asked for.
func (x *export) take(from scenes.Exporter) {
	clip, err := from.Export()
	if clip == nil && err == nil {
		return
	}
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(x.path), 0o777); err == nil {
			err = atomicfile.Write(x.path, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
		}
	}
	if err != nil {
		x.told = err.Error()
		return
	}
	x.told = fmt.Sprintf("wrote %s: %d frames", x.path, clip.Frames)
}
