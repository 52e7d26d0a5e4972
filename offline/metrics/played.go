package metrics

import (
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
)

// played is the driver of a character of mannequin make.
type played struct {
	matching.Player
	joints int
	poses  generator.Poses // (rows)
}

func newPlayed(f *matching.File, n, workers int) (driver, error) {
	p, err := f.NewStream(matching.StreamOptions{Capacity: n, Workers: workers})
	if err != nil {
		return nil, err
	}
	joints := f.Character().Skel.Len()
	d := played{p, joints, generator.Poses{Roots: make([]m3.Xform, n), Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Restarted: make([]bool, n)}}
	if b, ok := p.(generator.Batched); ok {
		return batchedPlayed{d, b}, nil
	}
	return d, nil
}

func (d played) Root(row int) m3.Xform {
	at := d.Player.Root(row)
	return m3.Xform{Pos: at.Pos, Rot: m3.YawQuat(at.Yaw)}
}

func (d played) Restored(row int) int {
	if s, ok := d.Player.(*matching.AdaptiveStream); ok {
		return s.Batch().Restored(row)
	}
	return 0
}

func (d played) Gating(int) []float32 { return nil }

func (d played) pose(row int) ([]m3.Vec3, []m3.Quat) {
	d.Pose(&d.poses, row)
	return d.poses.Joints(row, d.joints)
}

// batchedPlayed is played of a stream whose network runs inside the tick.
type batchedPlayed struct {
	played
	generator.Batched
}

var _ driver = batchedPlayed{}
