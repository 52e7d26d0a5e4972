// Command rollback is a game for two players over UDP. Both compute the whole game, and send each
// other only what they do. A player's own input acts at once; that of the other is guessed until it
// comes, and the game goes back up to 8 ticks if the guess was wrong.
//
//	go run ./examples/rollback
//
// plays both players, in two processes that talk over a bad line: messages take 3 to 7 frames, and
// every tenth is lost. The other flags play one of them:
//
//	go run ./examples/rollback -player 0 -listen :7500
//	go run ./examples/rollback -player 1 -peer HOST:7500
//
// session.go is the rollback, game.go the game, and line.go the bad line.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"time"

	"mannequin/animsys"
)

func main() {
	player := flag.Int("player", -1, "`number` of the player, 0 or 1; -1 plays both")
	listen := flag.String("listen", "127.0.0.1:0", "`address` to receive messages at")
	peer := flag.String("peer", "", "`address` of the other player; none waits for a message")
	seconds := flag.Float64("seconds", 60, "time to play, in the game")
	fast := flag.Bool("fast", false, "play as fast as possible")
	flag.Parse()
	conn, err := net.ListenPacket("udp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Print("player ", max(*player, 0), " is at ", conn.LocalAddr())
	var other *exec.Cmd
	if *player < 0 {
		*player = 0
		other = exec.Command(os.Args[0], "-player=1", "-peer="+conn.LocalAddr().String(), fmt.Sprint("-seconds=", *seconds), fmt.Sprint("-fast=", *fast))
		other.Stdout, other.Stderr = os.Stdout, os.Stderr
		if err := other.Start(); err != nil {
			log.Fatal(err)
		}
	}
	if err := play(os.Stdout, conn, *peer, *player, int(*seconds*animsys.TickRate), *fast); err != nil {
		log.Fatal(err)
	}
	if other != nil {
		if err := other.Wait(); err != nil {
			log.Fatal(err)
		}
	}
}

// play plays a number of ticks with the other player, and prints the hash of them all.
func play(out io.Writer, conn net.PacketConn, peer string, player, ticks int, fast bool) error {
	game, err := NewGame()
	if err != nil {
		return err
	}
	defer game.Close()
	line, err := newLine(conn, peer, uint64(player))
	if err != nil {
		return err
	}
	defer line.Close()
	s := &Session{game: game, me: player}
	me := rand.New(rand.NewPCG(uint64(player), 1)) // instead of keys
	in, hold := Input{}, 0
	wait, began := time.Second/animsys.TickRate, time.Now()
	if fast {
		wait = time.Millisecond / 4
	}
	timer := time.NewTicker(wait)
	defer timer.Stop()
	var message []byte
	for quiet := 0; quiet < animsys.TickRate; {
		for b := line.Receive(); b != nil; b = line.Receive() {
			s.Receive(b)
		}
		if err := s.Rollback(); err != nil {
			return err
		}
		played := false
		if s.tick < ticks {
			if played, err = s.Play(in); err != nil {
				return err
			}
		} else if s.Final() == ticks && s.acked == ticks {
			quiet++ // the other may not know yet that it has all
		}
		if hold--; played && hold < 0 { // another key
			in, hold = Input{int8(me.IntN(128) - 64), int8(me.IntN(100))}, 6+me.IntN(40)
		}
		message = s.Message(message[:0])
		if err := line.Send(message); err != nil {
			return err
		}
		if !played || !fast {
			<-timer.C
		}
	}
	fmt.Fprintf(out, "player %d: %d ticks in %.1f s, hash %016x; %d rollbacks, %d ticks played again, %d frames waited\n",
		player, s.chained, time.Since(began).Seconds(), s.Chain, s.Rollbacks, s.Replayed, s.Stalls)
	return nil
}
