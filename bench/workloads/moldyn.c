// Argon atoms in a periodic box under Lennard-Jones forces, pairs dealt round the threads, a force array for each thread
// and a reduction: the theme of Java Grande's moldyn. Checked by the energy and the momentum, which stay.
// suite: java-grande
// size: 11 quick: 4 sweep: 7 8 10 11
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { STEPS = 40 };

typedef struct { double x, y, z; } vector;

static long atoms;
static double side;
static vector *places, *speeds, *forces;
static vector **shares;
static double *potentials, *kinetics;
static double first_energy, last_energy;

static double nearest(double distance) {
    return distance > side / 2 ? distance - side : distance < -side / 2 ? distance + side : distance;
}

// Shifted so that neither the force nor the potential jumps at the cutoff.
static double pair(vector *share, long i, long j, double cutoff) {
    double x = nearest(places[i].x - places[j].x);
    double y = nearest(places[i].y - places[j].y);
    double z = nearest(places[i].z - places[j].z);
    double square = x * x + y * y + z * z;
    if (square >= cutoff * cutoff) {
        return 0;
    }
    double r = sqrt(square), r6 = 1 / (square * square * square), cut6 = pow(cutoff, -6);
    double edge = (48 * cut6 * cut6 - 24 * cut6) / cutoff;
    double force = ((48 * r6 * r6 - 24 * r6) / r - edge) / r;
    share[i].x += force * x; //~ RACE share
    share[i].y += force * y; //~ RACE share
    share[i].z += force * z; //~ RACE share
    share[j].x -= force * x; //~ RACE share
    share[j].y -= force * y; //~ RACE share
    share[j].z -= force * z; //~ RACE share
    return 4 * (r6 * r6 - r6) - 4 * (cut6 * cut6 - cut6) + edge * (r - cutoff);
}

static void compute_forces(long me) {
    vector *share = shares[me];
    double cutoff = side / 2 < 2.5 ? side / 2 : 2.5;
    for (long i = 0; i < atoms; i++) {
        share[i] = (vector){0, 0, 0}; //~ RACE share
    }
    potentials[me] = 0;
    for (long i = me; i < atoms; i += threads) {
        for (long j = i + 1; j < atoms; j++) {
            potentials[me] += pair(share, i, j, cutoff);
        }
    }
    guard_meet();
    for (long i = first_of(atoms, me); i < first_of(atoms, me + 1); i++) {
        forces[i] = (vector){0, 0, 0};
        for (int thread = 0; thread < threads; thread++) {
            forces[i].x += shares[thread][i].x; //~ RACE share
            forces[i].y += shares[thread][i].y; //~ RACE share
            forces[i].z += shares[thread][i].z; //~ RACE share
        }
    }
    meet();
}

static double wrap(double place) {
    return place - side * floor(place / side);
}

static void body(long me) {
    const double time = 1e-3;
    compute_forces(me);
    for (int step = 0; step < STEPS; step++) {
        for (long i = first_of(atoms, me); i < first_of(atoms, me + 1); i++) {
            speeds[i].x += time / 2 * forces[i].x;
            speeds[i].y += time / 2 * forces[i].y;
            speeds[i].z += time / 2 * forces[i].z;
            places[i].x = wrap(places[i].x + time * speeds[i].x);
            places[i].y = wrap(places[i].y + time * speeds[i].y);
            places[i].z = wrap(places[i].z + time * speeds[i].z);
        }
        meet();
        compute_forces(me);
        kinetics[me] = 0;
        for (long i = first_of(atoms, me); i < first_of(atoms, me + 1); i++) {
            speeds[i].x += time / 2 * forces[i].x;
            speeds[i].y += time / 2 * forces[i].y;
            speeds[i].z += time / 2 * forces[i].z;
            vector v = speeds[i];
            kinetics[me] += (v.x * v.x + v.y * v.y + v.z * v.z) / 2;
        }
        meet();
        if (me == 0 && (step == 0 || step == STEPS - 1)) {
            double energy = 0;
            for (int thread = 0; thread < threads; thread++) {
                energy += potentials[thread] + kinetics[thread];
            }
            *(step == 0 ? &first_energy : &last_energy) = energy;
        }
        meet();
    }
}

int main(int count, char **words) {
    long cells = arguments(count, words, 11, 2, 100);
    atoms = 4 * cells * cells * cells;
    const double lattice = 1.7;
    side = lattice * (double)cells;
    places = room(atoms, sizeof *places);
    speeds = room(atoms, sizeof *speeds);
    forces = room(atoms, sizeof *forces);
    shares = room(threads, sizeof *shares);
    potentials = room(threads, sizeof *potentials);
    kinetics = room(threads, sizeof *kinetics);
    for (int thread = 0; thread < threads; thread++) {
        shares[thread] = room(atoms, sizeof **shares);
    }
    // A face-centred lattice, at rest as a whole.
    uint64_t state = 1;
    vector mean = {0, 0, 0};
    for (long i = 0; i < atoms; i++) {
        long cell = i / 4, corner = i % 4;
        places[i].x = lattice * ((double)(cell % cells) + (corner == 1 || corner == 2 ? 0.5 : 0));
        places[i].y = lattice * ((double)(cell / cells % cells) + (corner == 1 || corner == 3 ? 0.5 : 0));
        places[i].z = lattice * ((double)(cell / cells / cells) + (corner == 2 || corner == 3 ? 0.5 : 0));
        speeds[i] = (vector){next_number(&state) - 0.5, next_number(&state) - 0.5, next_number(&state) - 0.5};
        mean.x += speeds[i].x / (double)atoms;
        mean.y += speeds[i].y / (double)atoms;
        mean.z += speeds[i].z / (double)atoms;
    }
    for (long i = 0; i < atoms; i++) {
        speeds[i] = (vector){speeds[i].x - mean.x, speeds[i].y - mean.y, speeds[i].z - mean.z};
    }
    run_team(body);
    double momentum = 0;
    for (long i = 0; i < atoms; i++) {
        momentum += speeds[i].x + speeds[i].y + speeds[i].z;
    }
    int right = fabs(momentum) < 1e-8 * (double)atoms && fabs(last_energy / first_energy - 1) < 1e-4;
    return verdict_number(right, last_energy);
}
