package main

import (
	"encoding/binary"
	"fmt"
)

const (
	back = 8  // ticks that may be played before the other's input has come
	kept = 32 // ticks that are remembered: more than either player can be ahead of the other
)

// Session plays a game in step with another player's session. A tick whose input by the other player
// has not come is played with a guess: the last input that came. If another input comes, the session
// goes back to before that tick, and plays from there again.
type Session struct {
	game *Game
	me   int // 0 or 1

	tick  int // the next to be played
	heard int // ticks whose input by the other has come
	acked int // ticks whose input by me the other has
	wrong int // the first tick that was played with a wrong guess; tick if none was

	inputs [2][kept]Input // by tick
	played [kept]Input    // the other's input with which a tick was played
	saves  [kept][]byte   // before a tick
	hashes [kept]uint64   // after a tick
	claim  struct {       // what the other says of a tick
		tick int
		hash uint64
	}

	Chain     uint64 // hash of the hashes of all ticks that are final
	chained   int
	Rollbacks int
	Replayed  int // ticks
	Stalls    int // frames that waited for the other
}

// Rollback plays the ticks again that were wrong.
func (s *Session) Rollback() error {
	if s.wrong < s.tick {
		s.Rollbacks++
		s.Replayed += s.tick - s.wrong
		if err := s.game.Restore(s.saves[s.wrong%kept]); err != nil {
			return err
		}
		for t := s.wrong; t < s.tick; t++ {
			if err := s.play(t); err != nil {
				return err
			}
		}
	}
	s.wrong = s.tick
	return s.compare()
}

// Play plays the next tick with the player's input. It reports false, and plays none, if the other is
// too far behind.
func (s *Session) Play(in Input) (bool, error) {
	if s.tick-s.heard >= back || s.tick-s.acked >= kept/2 {
		s.Stalls++
		return false, nil
	}
	s.inputs[s.me][s.tick%kept] = in
	if err := s.play(s.tick); err != nil {
		return false, err
	}
	s.tick++
	s.wrong = s.tick
	return true, nil
}

// play plays tick t.
func (s *Session) play(t int) (err error) {
	other := 1 - s.me
	var in [2]Input
	in[s.me] = s.inputs[s.me][t%kept]
	if last := min(t, s.heard-1); last >= 0 {
		in[other] = s.inputs[other][last%kept]
	}
	s.played[t%kept] = in[other]
	if s.saves[t%kept], err = s.game.Save(s.saves[t%kept][:0]); err != nil {
		return err
	}
	err = s.game.Step(in)
	s.hashes[t%kept] = s.game.Hash()
	return err
}

// Final returns the number of ticks that will not be played again.
func (s *Session) Final() int { return min(s.heard, s.wrong, s.tick) }

// compare compares the state with what the other says of it.
func (s *Session) compare() error {
	for ; s.chained < s.Final(); s.chained++ {
		s.Chain = (s.Chain ^ s.hashes[s.chained%kept]) * 0x100000001b3
	}
	if t := s.claim.tick; t < s.Final() && t >= s.tick-kept && s.claim.hash != s.hashes[t%kept] && s.claim.hash != 0 {
		return fmt.Errorf("tick %d: the players' worlds differ: hash %016x here, %016x there", t, s.hashes[t%kept], s.claim.hash)
	}
	return nil
}

// A message: how many inputs of the other have come; the last final tick and its hash; and the
// inputs that the other does not have, with the tick of the first.
const headSize = 4 + 4 + 8 + 4

// Message appends what the other has to know to b. Every message has all that has not been
// acknowledged, so it does not matter which are lost.
func (s *Session) Message(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(s.heard))
	last := s.Final() - 1
	b = binary.LittleEndian.AppendUint32(b, uint32(max(last, 0)))
	hash := uint64(0)
	if last >= 0 {
		hash = s.hashes[last%kept]
	}
	b = binary.LittleEndian.AppendUint64(b, hash)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.acked))
	for t := s.acked; t < s.tick; t++ {
		in := s.inputs[s.me][t%kept]
		b = append(b, byte(in.Turn), byte(in.Speed))
	}
	return b
}

// Receive takes a message of the other. It ignores what cannot be one.
func (s *Session) Receive(b []byte) {
	if len(b) < headSize || len(b)%2 != 0 {
		return
	}
	acked, first := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[16:]))
	inputs := (len(b) - headSize) / 2
	if acked > s.tick || first > s.heard || first+inputs > s.tick+kept/2 {
		return
	}
	s.acked = max(s.acked, acked)
	s.claim.tick, s.claim.hash = int(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint64(b[8:])
	for t := s.heard; t < first+inputs; t++ {
		in := Input{int8(b[headSize+2*(t-first)]), int8(b[headSize+2*(t-first)+1])}
		s.inputs[1-s.me][t%kept] = in
		if t < s.tick && s.played[t%kept] != in {
			s.wrong = min(s.wrong, t)
		}
		s.heard = t + 1
	}
}
