// A line as a quad of constant width on screen.
layout(location = 0) in vec3 From;
layout(location = 1) in vec3 To;
layout(location = 2) in vec2 Corner; // 0 or 1 along, −1 or 1 across
layout(location = 3) in vec3 Colour; // linear
uniform mat4 Project;
uniform vec3 Size; // half of the picture's width and height, half of the line's width; pixels
uniform float Nearer; // depth bias of lines towards the eye, in clip space at a distance of 1
out vec3 vColour;
out vec2 vAcross; // from the line's middle, and its edge's; pixels

const float least = 0.02; // near limit

void main() {
	vec4 a = Project * vec4(From, 1.0), b = Project * vec4(To, 1.0);
	vColour = Colour;
	float wide = Size.z + 0.5;
	vAcross = vec2(Corner.y * wide, Size.z);
	if (max(a.w, b.w) < least) {
		gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
		return;
	}
	vec4 near = a, end = b;
	if (a.w < least) near = mix(a, b, (least - a.w) / (b.w - a.w));
	if (b.w < least) end = mix(b, a, (least - b.w) / (a.w - b.w));
	vec2 d = (end.xy / end.w - near.xy / near.w) * Size.xy;
	float l = length(d);
	d = l > 0.001 ? d / l : vec2(1.0, 0.0);
	vec4 at = mix(near, end, Corner.x);
	vec2 off = vec2(-d.y, d.x) * Corner.y * wide + d * (Corner.x - 0.5) * Size.z;
	at.xy += off / Size.xy * at.w;
	at.z = max(at.z - Nearer / at.w, -at.w);
	gl_Position = at;
}
