//go:build mpi

package train

import "mannequin/offline/train/mpi"

func init() {
	openWorld = func() (world, error) {
		if !mpi.Started() {
			return nil, nil
		}
		return mpi.Init()
	}
}
