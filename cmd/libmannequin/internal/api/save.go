package api

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"mannequin/animsys"
	"mannequin/engine/m3"
)

// A save of a world, little-endian: the magic; the number of bytes of the goals; the number of crowds and, for each, that
// of its agents and their goals by row; the CRC-32 of all that; and the save of package animsys.
const (
	saveMagic = "mqgoals\x01" // the last byte is the version
	saveHead  = len(saveMagic) + 8
	goalSize  = 14 * 4
)

// Save writes the state of a world at the beginning of dst, and returns its size. With the code [Size] it needs that much room.
func Save(id ID, dst []byte) (size int, err error) {
	err = inWorld(id, func(w *World) error {
		b := append(w.save[:0], saveMagic...)
		b = append(b, make([]byte, 8)...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(w.crowds)))
		for _, c := range w.crowds {
			n := c.crowd.Agents()
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
			for row := range n {
				b = c.at(row).goal.append(b)
			}
		}
		binary.LittleEndian.PutUint64(b[len(saveMagic):], uint64(len(b)-saveHead))
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		b, err := animsys.Save(&w.ecs, b)
		if err != nil {
			return err
		}
		w.save = b
		if size = len(b); size > len(dst) {
			return Errorf(Size, "the save has %d bytes, and there is room for %d", size, len(dst))
		}
		copy(dst, b)
		return nil
	})
	return size, err
}

func (g *Goal) append(b []byte) []byte {
	for _, v := range [...]uint32{uint32(g.Kind), uint32(g.Action)} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, v := range [...]float32{g.Move.X, g.Move.Y, g.Move.Z, g.Face.X, g.Face.Y, g.Face.Z, g.Place.X, g.Place.Y, g.Place.Z, g.Radius, g.Speed, g.Turn} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// read reads what append writes.
func (g *Goal) read(b []byte) {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	real := func(i int) float32 { return math.Float32frombits(word(i)) }
	*g = Goal{int32(word(0)), int32(word(1)), m3.V(real(2), real(3), real(4)), m3.V(real(5), real(6), real(7)), m3.V(real(8), real(9), real(10)), real(11), real(12), real(13)}
}

// Restore gives a world the state of a save, which it does not keep.
func Restore(id ID, src []byte) error {
	return inWorld(id, func(w *World) error {
		w.save = append(w.save[:0], src...) // workers read it, and the host's memory may be bad
		goals, rest, err := w.goalsOf(w.save)
		if err != nil {
			return err
		}
		if err := animsys.Restore(&w.ecs, rest); err != nil {
			return coded(File, err)
		}
		w.alpha = 1
		for i, c := range w.crowds {
			if err := c.renew(goals[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// goalsOf checks the beginning of a save, and returns the goals of each crowd and what follows.
func (w *World) goalsOf(src []byte) (goals [][]byte, rest []byte, err error) {
	name := saveMagic[:len(saveMagic)-1]
	switch {
	case len(src) < saveHead || string(src[:len(name)]) != name:
		return nil, nil, Errorf(File, "this is no save of a world, or its beginning is damaged")
	case src[len(name)] != saveMagic[len(name)]:
		return nil, nil, Errorf(File, "the save has version %d, and this library reads version %d", src[len(name)], saveMagic[len(name)])
	}
	n := binary.LittleEndian.Uint64(src[len(saveMagic):])
	if n > uint64(len(src)) || int(n) > len(src)-saveHead-4 || n < 4 {
		return nil, nil, Errorf(File, "the save is cut or damaged")
	}
	head, b := src[:saveHead+int(n)], src[saveHead:saveHead+int(n)]
	if rest = src[len(head)+4:]; crc32.ChecksumIEEE(head) != binary.LittleEndian.Uint32(src[len(head):]) {
		return nil, nil, Errorf(File, "the save is damaged: its checksum is wrong")
	}
	if k := binary.LittleEndian.Uint32(b); uint64(k) != uint64(len(w.crowds)) {
		return nil, nil, Errorf(File, "the save has %d crowds, and the world has %d", k, len(w.crowds))
	}
	b = b[4:]
	for range w.crowds {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b))*goalSize > uint64(len(b)-4) {
			return nil, nil, Errorf(File, "the save is damaged: goals are missing")
		}
		size := 4 + int(binary.LittleEndian.Uint32(b))*goalSize
		goals = append(goals, b[4:size])
		for at := 4; at < size; at += goalSize {
			var g Goal
			if g.read(b[at:]); g.valid() != nil {
				return nil, nil, Errorf(File, "the save is damaged: %w", g.valid())
			}
		}
		b = b[size:]
	}
	return goals, rest, nil
}

// renew makes agents of what a restore has left in the crowd: those that were there keep their ids.
func (c *Crowd) renew(goals []byte) error {
	w := c.world
	n := c.crowd.Agents()
	kept := map[*Agent]bool{}
	for row := range n {
		e := c.crowd.Entity(row)
		if e.ID() < uint32(len(w.byEntity)) {
			if a := w.byEntity[e.ID()]; a != nil && a.entity == e && a.crowd == c {
				kept[a] = true
			}
		}
	}
	for _, a := range w.byEntity {
		if a != nil && a.crowd == c && !kept[a] {
			a.forget()
		}
	}
	c.events = c.events[:0]
	for row := range n {
		e := c.crowd.Entity(row)
		if e.ID() >= uint32(len(w.byEntity)) || w.byEntity[e.ID()] == nil {
			if _, err := c.adopt(e); err != nil {
				return err
			}
		}
		c.stand(row)
		if at := row * goalSize; at < len(goals) {
			c.at(row).goal.read(goals[at:])
		}
	}
	return nil
}
