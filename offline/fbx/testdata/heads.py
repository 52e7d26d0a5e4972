"""Writes where Blender has the joints of FBX files: blender -b --factory-startup --python heads.py -- JOBS OUT

JOBS is a JSON list of {"file": PATH, "times": {ANIMATION: [TICKS, ...]}}. OUT gets a line of JSON per job:
{"bind": PLACES, "rest": PLACES, "stacks": {ANIMATION: {"layers": N, "names": [...], "at": [[x, y, z, ...], ...]}}}
or {"error": TEXT}, where PLACES has a joint's x, y, z by its name. Places are the origins of objects and the heads of
pose bones in the world, in Blender's units (metres) and axes (Z up). "bind" has bones of armatures without their pose.
"""
import json
import sys
import traceback

import addon_utils
import bpy

addon_utils.enable("io_scene_fbx")
from io_scene_fbx import import_fbx as fbx
from io_scene_fbx.fbx_utils import FBX_KTIME

read_stacks, read_item = fbx.blen_read_animations, fbx.blen_read_animations_action_item
stacks = {}  # by name: (layers, {object: [its actions, one per layer]})
current = None
times = {}  # of the file's animations, in FBX's ticks
basis = []  # of all parts, without an animation


def keep_stacks(tmpl_stack, tmpl_layer, all, *rest):
    """Reads animations one by one: Blender gives objects their first, and tells others by their names only."""
    global current, frames
    keep_basis()
    for id, stack in all.items():
        current = {}
        name = fbx.elem_name_ensure_class(stack[0][0], b'AnimStack')
        frames = fbx.FBXElem(b'AnimationCurve', (), b'', [
            fbx.FBXElem(b'KeyTime', (times.get(name, []),), b'l', ()),
            fbx.FBXElem(b'KeyValueFloat', ([0] * len(times.get(name, [])),), b'f', ())])
        read_stacks(tmpl_stack, tmpl_layer, {id: stack}, *rest)
        stacks.setdefault(name, (len(stack[1]), current))


def keep_basis():
    for o in bpy.data.objects:
        if o.type == 'ARMATURE':
            # A bone whose head lies at its parent's tail is connected to it, and would ignore its translation.
            bpy.context.view_layer.objects.active = o
            hidden, o.hide_viewport = o.hide_viewport, False
            bpy.ops.object.mode_set(mode='EDIT')
            for b in o.data.edit_bones:
                b.use_connect = False
            bpy.ops.object.mode_set(mode='OBJECT')
            o.hide_viewport = hidden
    basis[:] = [p.matrix_basis.copy() for p in parts()]


def keep_item(action, item, nodes, *rest):
    """Notes whose action it is.

    Blender takes the values of all channels at the times of their keys, straight between two keys, and goes on straight
    in quaternions. A channel of nothing, which has the frames as keys, makes it take them at these, too. A channel
    without a curve is at its own value, not at the last one of another animation.
    """
    if not isinstance(item, fbx.FbxImportHelperNode) or not any(curves for curves, _ in nodes.values()):
        return read_item(action, item, nodes, *rest)
    if frames.elems[0].props[0]:
        nodes = {**nodes, 0: ({0: ((frames, None), 0)}, b'frames')}
    if action not in current.setdefault(item.bl_obj, []):
        current[item.bl_obj].append(action)
    t = item.fbx_transform_data
    was = [list(v) for v in (t.loc, t.rot, t.sca)]
    read_item(action, item, nodes, *rest)
    for v, old in zip((t.loc, t.rot, t.sca), was):
        v[:] = old


fbx.blen_read_animations, fbx.blen_read_animations_action_item = keep_stacks, keep_item


def parts():
    for o in bpy.data.objects:
        yield o
        if o.type == 'ARMATURE':
            yield from o.pose.bones


def names():
    return [p.name for p in parts()]


def places():
    bpy.context.view_layer.update()
    out = []
    for o in bpy.data.objects:
        out.extend(o.matrix_world.translation)
        if o.type == 'ARMATURE':
            for b in o.pose.bones:
                out.extend((o.matrix_world @ b.matrix).translation)
    return [round(x, 7) for x in out]


def read(job):
    global times
    bpy.ops.wm.read_factory_settings(use_empty=True)
    stacks.clear()
    times = job["times"]
    if bpy.ops.import_scene.fbx(filepath=job["file"], anim_offset=0, use_custom_props=False) != {'FINISHED'}:
        raise RuntimeError("not imported")
    scene = bpy.context.scene
    for o in bpy.data.objects:
        o.modifiers.clear()  # meshes need not follow
        o.animation_data_clear()

    def reset():
        for p, m in zip(parts(), basis):
            p.matrix_basis = m

    reset()
    every = names()
    out = {"rest": dict(zip(every, zip(*[iter(places())] * 3))), "bind": {}, "stacks": {}}
    for o in bpy.data.objects:
        if o.type == 'ARMATURE':
            for b in o.data.bones:
                out["bind"][b.name] = list((o.matrix_world @ b.matrix_local).translation)
    for name, ticks in times.items():
        if name not in stacks:
            continue
        layers, actions = stacks[name]
        for o in bpy.data.objects:
            o.animation_data_clear()
        reset()
        for o, list_ in actions.items():
            if o is not None and list_:
                o.animation_data_create().action = list_[0]
        at = []
        for t in ticks:
            frame = t * scene.render.fps / FBX_KTIME
            whole = int(frame // 1)
            scene.frame_set(whole, subframe=min(max(frame - whole, 0), 0.99999994))
            at.append(places())
        out["stacks"][name] = {"layers": layers, "names": every, "at": at}
    return out


def main():
    jobs, out = sys.argv[sys.argv.index("--") + 1:]
    with open(jobs) as f, open(out, "w") as w:
        for job in json.load(f):
            try:
                answer = read(job)
            except Exception as e:
                traceback.print_exc()
                answer = {"error": str(e)}
            json.dump(answer, w)
            w.write("\n")
            w.flush()


main()
