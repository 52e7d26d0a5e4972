# Imports a GLB into Blender and prints the places of its bones and objects by name, with glTF's axes, at
# times of the animation that is named: blender -b -P blender_pose.py -- FILE ANIMATION TIME...
# prints "pose" and a line of JSON per time.
import json
import sys

import bpy
import numpy

numpy.bool = bool  # Blender 3.4 in Debian 12 uses the old name

path, name, *times = sys.argv[sys.argv.index("--") + 1 :]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 30
bpy.ops.import_scene.gltf(filepath=path)
for o in bpy.data.objects:
    if o.animation_data:
        o.animation_data.action = None
        for t in o.animation_data.nla_tracks:
            t.mute = True  # strips begin in frame 1
            if t.name == name[:63]:
                o.animation_data.action = t.strips[0].action
for t in times:
    at = float(t) * scene.render.fps
    scene.frame_set(int(at), subframe=at - int(at))
    graph = bpy.context.evaluated_depsgraph_get()
    places = {}
    for o in bpy.data.objects:
        o = o.evaluated_get(graph)
        p = o.matrix_world.translation
        places[o.name] = [p.x, p.z, -p.y]
        if o.type == "ARMATURE":
            for b in o.pose.bones:
                p = o.matrix_world @ b.head
                places[b.name] = [p.x, p.z, -p.y]
    print("pose", json.dumps(places), flush=True)
