package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"mannequin/internal/testing/must"
)

const variable = "MANNEQUIN_ROLLBACK" // seconds to play; with a peer, in the second process

// Two processes play ten seconds over a bad line, and every tick has the same hash in both. Ten minutes:
//
//	MANNEQUIN_ROLLBACK=600 go test -timeout 30m -v ./examples/rollback
func Test(t *testing.T) {
	seconds := 10
	if s := os.Getenv(variable); s != "" {
		seconds = must.Get(strconv.Atoi(s))(t)
	}
	conn := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	if peer := os.Getenv(variable + "_PEER"); peer != "" {
		must.Do(t, play(os.Stdout, conn, peer, 1, 60*seconds, true))
		return
	}
	other := exec.Command(must.Get(os.Executable())(t), "-test.run=^Test$", "-test.timeout=0")
	other.Env = append(os.Environ(), fmt.Sprint(variable, "=", seconds), variable+"_PEER="+conn.LocalAddr().String())
	var mine, theirs bytes.Buffer
	other.Stdout, other.Stderr = &theirs, &theirs
	must.Do(t, other.Start())
	err := play(&mine, conn, "", 0, 60*seconds, true)
	if err != nil {
		other.Process.Kill()
	}
	if err := other.Wait(); err != nil {
		t.Errorf("%v: %s", err, theirs.String())
	}
	must.Do(t, err)
	t.Logf("%s%s", mine.String(), theirs.String())
	same := regexp.MustCompile(fmt.Sprintf(`%d ticks in .* hash ([0-9a-f]{16}); ([0-9]+) rollbacks`, 60*seconds))
	a, b := same.FindStringSubmatch(mine.String()), same.FindStringSubmatch(theirs.String())
	if a == nil || b == nil || a[1] != b[1] || a[2] == "0" || b[2] == "0" {
		t.Errorf("%q and %q", a, b)
	}
}

// A tick that differs is found: one player's world is not the other's.
func TestDiffers(t *testing.T) {
	var s [2]*Session
	for i := range s {
		game := must.Get(NewGame())(t)
		defer game.Close()
		s[i] = &Session{game: game, me: i}
	}
	for tick := range 60 {
		for i := range s {
			if err := s[i].Rollback(); err != nil {
				if tick < 30 {
					t.Fatal(err)
				}
				return
			}
			must.Get(s[i].Play(Input{Turn: int8(tick), Speed: 50}))(t)
			s[1-i].Receive(s[i].Message(nil))
		}
		if tick == 30 {
			s[1].game.breath[0] /= 2
		}
	}
	t.Error("nothing was found")
}

// No message makes a session panic, or forget what it knows.
func FuzzReceive(f *testing.F) {
	s := &Session{tick: 3, heard: 2, acked: 1, wrong: 3}
	f.Add(s.Message(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Session{tick: 3, heard: 2, acked: 1, wrong: 3}
		s.Receive(b)
		if s.heard < 2 || s.heard > s.tick+kept || s.acked < 1 || s.acked > s.tick || s.wrong < 2 || s.wrong > s.tick {
			t.Errorf("%d, %d, %d, %d", s.tick, s.heard, s.acked, s.wrong)
		}
	})
}
