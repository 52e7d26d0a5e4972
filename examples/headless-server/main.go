// Command headless-server runs a herd on a server without C and without a window, and sends its poses
// to viewers over TCP, 20 times a second:
//
//	CGO_ENABLED=0 go run ./examples/headless-server -listen localhost:7400
//	go run ./examples/headless-server -view localhost:7400 -out herd.gif
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"image/color"
	"io"
	"log"
	"net"
	"os"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/snapshot"
	"mannequin/ecs"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"

	arche "github.com/mlange-42/arche/ecs"
)

const (
	dogs        = 12
	sendEvery   = 3       // ticks
	mostMessage = 1 << 20 // bytes that a viewer takes
)

func main() {
	listen := flag.String("listen", "", "serve the herd at this `address`")
	view := flag.String("view", "", "view the herd of the server at this `address`")
	out := flag.String("out", "herd.gif", "`file` that a viewer writes: a GIF, an MP4 or a folder of pictures")
	flag.Parse()
	switch {
	case *listen != "":
		l, err := net.Listen("tcp", *listen)
		if err == nil {
			log.Print("the herd is at ", l.Addr())
			err = serve(l, time.NewTicker(time.Second/animsys.TickRate).C)
		}
		log.Fatal(err)
	case *view != "":
		conn, err := net.Dial("tcp", *view)
		if err == nil {
			err = watch(conn, *out, 100)
		}
		if err != nil {
			log.Fatal(err)
		}
	default:
		flag.Usage()
		os.Exit(2)
	}
}

// serve steps the herd at each tick, and sends its poses to all who connect to l.
func serve(l net.Listener, ticks <-chan time.Time) error {
	model, err := open()
	if err != nil {
		return err
	}
	controller, err := model.NewController(mann.ControllerOptions{Capacity: dogs})
	if err != nil {
		return err
	}
	world := arche.NewWorld()
	crowd, err := animsys.NewCrowd(&world, controller, animsys.Options{Ground: ik.Level(0)})
	if err != nil {
		return err
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		return err
	}
	for i := range dogs {
		goal := control.Goal{Move: m3.V(0, 0, 1), Turn: 0.1, Speed: 1 + 0.2*float32(i%4), Action: control.Move}
		if _, err := animsys.SpawnWith(crowd, m3.V(float32(i%4)*1.5, 0, float32(i/4)*1.5), 0, goal); err != nil {
			return err
		}
	}
	codec, err := snapshot.NewCodec(crowd.Skel)
	if err != nil {
		return err
	}

	joins, gone := make(chan net.Conn), make(chan error, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				gone <- err
				return
			}
			joins <- conn
		}
	}()
	viewers := map[net.Conn]chan []byte{}
	defer func() {
		for _, send := range viewers {
			close(send)
		}
	}()
	for tick := uint32(0); ; {
		select {
		case err := <-gone:
			return err
		case conn := <-joins:
			send := make(chan []byte, 8)
			viewers[conn] = send
			go forward(conn, send)
		case <-ticks:
			if err := schedule.Step(); err != nil {
				return err
			}
			if tick++; tick%sendEvery != 0 {
				continue
			}
			msg := codec.Begin(make([]byte, 4, 4096), tick) // four bytes for the length
			for row := range crowd.Agents() {
				msg = codec.Append(msg, uint64(crowd.Entity(row).ID()), crowd.BonesAt(row))
			}
			binary.LittleEndian.PutUint32(msg, uint32(len(msg)-4))
			for conn, send := range viewers {
				select {
				case send <- msg:
				default: // a viewer that is too slow, or has left
					close(send)
					delete(viewers, conn)
				}
			}
		}
	}
}

func forward(conn net.Conn, messages <-chan []byte) {
	defer conn.Close()
	for msg := range messages {
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := conn.Write(msg); err != nil {
			return
		}
	}
}

func open() (*mann.Model, error) {
	net, err := dogfree.Open()
	if err != nil {
		return nil, err
	}
	return mann.NewModel(net)
}

// watch draws what the server sends, a frame for each message.
func watch(conn net.Conn, out string, frames int) error {
	defer conn.Close()
	model, err := open() // for the skeleton
	if err != nil {
		return err
	}
	codec, err := snapshot.NewCodec(model.Skel)
	if err != nil {
		return err
	}
	film, err := media.Create(context.Background(), out, media.Options{Width: 640, Height: 360, FPS: animsys.TickRate / sendEvery})
	if err != nil {
		return err
	}
	defer film.Abort()
	bones := make([]m3.Xform, model.Skel.Len())
	for range frames {
		m, err := receive(conn, codec)
		if err != nil {
			return err
		}
		var middle m3.Vec3 // of the herd
		for i := range m.Agents() {
			m.Bones(bones, i)
			middle = middle.Add(bones[0].Pos.Flat().Scale(1 / float32(m.Agents())))
		}
		img := draw.New(640, 360, color.RGBA{248, 248, 245, 255})
		cam := draw.ThreeQuarter(middle, 9)
		draw.Grid(img, cam, m3.V(float32(int(middle.X)), 0, float32(int(middle.Z))), 14, 1)
		for i := range m.Agents() {
			m.Bones(bones, i)
			draw.Skeleton(img, cam, model.Skel.Parents, draw.Positions(bones), color.RGBA{30, 30, 30, 255})
		}
		if err := film.Frame(img); err != nil {
			return err
		}
	}
	fmt.Printf("%d messages of %d dogs, %d bytes each\n", frames, dogs, codec.PoseSize())
	return film.Close()
}

// receive reads one message: its length, and its bytes.
func receive(conn net.Conn, codec *snapshot.Codec) (snapshot.Message, error) {
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return snapshot.Message{}, fmt.Errorf("the server has left: %w", err)
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > mostMessage {
		return snapshot.Message{}, fmt.Errorf("a message of %d bytes, want at most %d", n, mostMessage)
	}
	msg := make([]byte, n)
	if _, err := io.ReadFull(conn, msg); err != nil {
		return snapshot.Message{}, fmt.Errorf("a message ends early: %w", err)
	}
	return codec.Decode(msg)
}
