# Imports a BVH into Blender and prints the places of its bones by name, with the file's axes, in frames
# of the file from 0 on: blender -b -P blender_bvh.py -- FILE FRAME... prints "pose" and a line of JSON per frame.
import builtins
import json
import sys

import bpy

plain = builtins.open  # the reader of Blender 3.4 opens with a mode that Python 3.11 has no more
builtins.open = lambda path, mode="r", *a, **k: plain(path, mode.replace("U", ""), *a, **k)

path, *frames = sys.argv[sys.argv.index("--") + 1 :]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
bpy.ops.import_anim.bvh(filepath=path, axis_forward="-Z", axis_up="Y")
start = int(bpy.data.actions[0].frame_range[0])
for f in frames:
    scene.frame_set(start + int(f))
    places = {}
    for o in bpy.data.objects:
        if o.type == "ARMATURE":
            for b in o.pose.bones:
                p = o.matrix_world @ b.head
                places[b.name] = [p.x, p.z, -p.y]
    print("pose", json.dumps(places), flush=True)
