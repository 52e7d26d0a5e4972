// Written by Unreal's header tool.
