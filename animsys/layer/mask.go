package layer

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/skel"
)

// Mask chooses joints: a weight from 0 to 1 for each. It is immutable, and belongs to one skeleton.
type Mask struct {
	sk     *skel.Skeleton
	weight []float32 // (joints)

	skeleton uint64 // fingerprint of sk; a mask that was read has no sk yet
}

// UpperBody returns the mask of a person's spine, arms, neck and head. Its edge along the spine is
// soft: the joints from the hips to the chest turn more and more with the clip. It is an error
// for dogs, whose arms are fore legs.
func UpperBody(sk *skel.Skeleton) (*Mask, error) {
	if err := person(sk); err != nil {
		return nil, err
	}
	m, err := Joints(sk, "LeftShoulder", "RightShoulder", "Neck")
	if err != nil {
		return nil, err
	}
	chest := int(sk.Parents[sk.Index("LeftShoulder")])
	var spine []int // from the chest down to the joint above the hips
	for j := chest; j > 0; j = int(sk.Parents[j]) {
		spine = append(spine, j)
	}
	for i, j := range spine {
		m.weight[j] = float32(len(spine)-i) / float32(len(spine))
	}
	return m, nil
}

// Arms returns the mask of a person's arms, from the shoulders on. It is an error for dogs.
func Arms(sk *skel.Skeleton) (*Mask, error) {
	if err := person(sk); err != nil {
		return nil, err
	}
	return Joints(sk, "LeftShoulder", "RightShoulder")
}

// Head returns the mask of neck and head.
func Head(sk *skel.Skeleton) (*Mask, error) { return Joints(sk, "Neck") }

// Tail returns the mask of a dog's tail.
func Tail(sk *skel.Skeleton) (*Mask, error) { return Joints(sk, "Tail") }

// Joints returns the mask of the named joints of sk and of all joints below them. A joint it does not
// have is an error.
func Joints(sk *skel.Skeleton, names ...string) (*Mask, error) {
	if sk == nil {
		return nil, fmt.Errorf("layer: a mask without a skeleton")
	}
	if err := sk.Validate(); err != nil {
		return nil, err
	}
	m := &Mask{sk, make([]float32, sk.Len()), sk.Fingerprint()}
	for _, name := range names {
		j := sk.Index(name)
		if j < 0 {
			return nil, fmt.Errorf("layer: the skeleton has no joint %q: it has %s", name, strings.Join(sk.Names, ", "))
		}
		m.weight[j] = 1
	}
	for j, p := range sk.Parents {
		if p >= 0 && m.weight[p] == 1 {
			m.weight[j] = 1
		}
	}
	return m, nil
}

// Weighted returns a mask with the given weights of joints, (joints), each from 0 to 1.
func Weighted(sk *skel.Skeleton, weights []float32) (*Mask, error) {
	if sk == nil || len(weights) != sk.Len() {
		return nil, fmt.Errorf("layer: %d weights of a mask: want one for each joint of a skeleton", len(weights))
	}
	if err := sk.Validate(); err != nil {
		return nil, err
	}
	for j, w := range weights {
		if !(w >= 0 && w <= 1) {
			return nil, fmt.Errorf("layer: the weight of joint %s is %g, want 0 to 1", sk.Names[j], w)
		}
	}
	return &Mask{sk, slices.Clone(weights), sk.Fingerprint()}, nil
}

// Weights returns the weights of the joints, (joints), as a copy.
func (m *Mask) Weights() []float32 { return slices.Clone(m.weight) }

func person(sk *skel.Skeleton) error {
	if sk == nil {
		return fmt.Errorf("layer: a mask without a skeleton")
	}
	if sk.Index("Tail") >= 0 {
		return fmt.Errorf("layer: the skeleton is a dog's, whose arms are fore legs: use Head, Tail or Joints")
	}
	return nil
}

// at returns the weight of a joint; nil is the whole body.
func (m *Mask) at(j int) float32 {
	if m == nil {
		return 1
	}
	return m.weight[j]
}
