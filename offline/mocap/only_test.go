package mocap_test

import (
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// A recording that has a clip alone, and no channels, gives up one of its roots.
func TestOnlyOfAClip(t *testing.T) {
	sk := &skel.Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, -1}, Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}
	b := &mocap.Recording{Clip: skel.NewClip(sk, 30, 1)}
	if one := b.Only(1); one.Clip.Skel.Len() != 1 || one.Clip.Skel.Names[0] != "b" || one.Channels != nil {
		t.Errorf("%+v", one)
	}
}
