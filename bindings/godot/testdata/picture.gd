# Runs the scene with the dogs and writes a picture.
extends "res://dogs.gd"

var frame = 0

func _process(_delta):
	frame += 1
	if frame == 95:
		yield(VisualServer, "frame_post_draw")
		var image = get_viewport().get_texture().get_data()
		image.flip_y()
		image.save_png("res://picture.png")
		get_tree().quit()
