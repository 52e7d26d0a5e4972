#include <mannequin_skinned>
uniform mat4 ModelViewMatrix;
uniform mat3 NormalMatrix;
uniform mat4 MVP;

out vec3 vPos;    // camera space
out vec3 vNormal; // camera space
out vec3 vBind;
out vec4 vCoat;
out vec2 vCoord;
flat out vec3 vTint;
flat out vec4 vVariation;

void main() {
	ivec2 who = character();
	mat4x3 m = skin(who, Joint, Weight);
	vVariation = variationOf(who);
	vec4 at = vec4(m * vec4(Position + Normal * thickness(vVariation), 1.0), 1.0);
	vPos = (ModelViewMatrix * at).xyz;
	vNormal = NormalMatrix * (m * vec4(Normal, 0.0));
	vBind = Position;
	vCoat = Coat;
	vCoord = Coord;
	vTint = tintOf(who);
	gl_Position = MVP * at;
}
