// A drop of flexible water molecules, all pairs, forces added to each molecule under its lock: the theme of SPLASH's
// water-nsquared. Checked by the energy and the momentum, which stay.
// suite: splash
// size: 2200 quick: 100 sweep: 700 1100 1600 2200
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { STEPS = 20, ATOMS = 3 };

typedef struct { double x, y, z; } vector;
struct molecule {
    pthread_mutex_t lock;
    vector places[ATOMS], speeds[ATOMS], forces[ATOMS];
};

static const double MASSES[ATOMS] = {16, 1, 1}, CHARGES[ATOMS] = {-0.8, 0.4, 0.4};

static long molecules;
static struct molecule *drop;
static vector **shares;
static double energy, first_energy, last_energy;
static pthread_mutex_t energy_lock = PTHREAD_MUTEX_INITIALIZER;

static vector minus(vector a, vector b) {
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static void add(vector *to, vector direction, double factor) {
    to->x += factor * direction.x; //~ RACE forces
    to->y += factor * direction.y; //~ RACE forces
    to->z += factor * direction.z; //~ RACE forces
}

static double square_of(vector a) {
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

// A spring between two atoms of a molecule.
static double spring(const vector *places, vector *forces, int a, int b, double rest) {
    const double stiffness = 200;
    vector between = minus(places[a], places[b]);
    double length = sqrt(square_of(between)), stretch = length - rest;
    add(&forces[a], between, -stiffness * stretch / length);
    add(&forces[b], between, stiffness * stretch / length);
    return stiffness * stretch * stretch / 2;
}

// Charges between all atoms of two molecules, a soft core between the oxygens.
static double pair(const vector *a, const vector *b, vector *force_a, vector *force_b) {
    double potential = 0;
    for (int i = 0; i < ATOMS; i++) {
        for (int j = 0; j < ATOMS; j++) {
            vector between = minus(a[i], b[j]);
            double square = square_of(between) + 0.1, r = sqrt(square);
            double value = CHARGES[i] * CHARGES[j] / r, force = value / square;
            if (i == 0 && j == 0) {
                double core = 1 / (square * square * square);
                value += core;
                force += 6 * core / square;
            }
            potential += value;
            add(&force_a[i], between, force);
            add(&force_b[j], between, -force);
        }
    }
    return potential;
}

static double kinetic(const struct molecule *molecule) {
    double sum = 0;
    for (int i = 0; i < ATOMS; i++) {
        sum += MASSES[i] * square_of(molecule->speeds[i]) / 2;
    }
    return sum;
}

static void compute_forces(long me) {
    vector *share = shares[me];
    double mine = 0;
    for (long i = 0; i < molecules * ATOMS; i++) {
        share[i] = (vector){0, 0, 0};
    }
    for (long i = me; i < molecules; i += threads) {
        const vector *places = drop[i].places;
        vector *forces = share + i * ATOMS;
        mine += spring(places, forces, 0, 1, 1) + spring(places, forces, 0, 2, 1) + spring(places, forces, 1, 2, 1.6);
        mine += kinetic(&drop[i]);
        for (long j = i + 1; j < molecules; j++) {
            mine += pair(places, drop[j].places, forces, share + j * ATOMS);
        }
    }
    pthread_mutex_lock(&energy_lock);
    energy += mine;
    pthread_mutex_unlock(&energy_lock);
    meet();
    // Each begins with its own molecules, not to stand in line.
    for (long k = 0; k < molecules; k++) {
        long i = (first_of(molecules, me) + k) % molecules;
        guard(&drop[i].lock);
        for (int atom = 0; atom < ATOMS; atom++) {
            add(&drop[i].forces[atom], share[i * ATOMS + atom], 1);
        }
        unguard(&drop[i].lock);
    }
    meet();
}

// Leap-frog: speeds are half a step behind the places, which the energy shows as a small wave.
static void body(long me) {
    const double time = 2e-3;
    for (int step = 0; step < STEPS; step++) {
        compute_forces(me);
        if (me == 0) {
            *(step == 0 ? &first_energy : &last_energy) = energy;
            energy = 0;
        }
        for (long i = first_of(molecules, me); i < first_of(molecules, me + 1); i++) {
            for (int atom = 0; atom < ATOMS; atom++) {
                add(&drop[i].speeds[atom], drop[i].forces[atom], time / MASSES[atom]);
                add(&drop[i].places[atom], drop[i].speeds[atom], time);
                drop[i].forces[atom] = (vector){0, 0, 0};
            }
        }
        meet();
    }
}

int main(int count, char **words) {
    molecules = arguments(count, words, 2200, 8, 1L << 20);
    drop = room(molecules, sizeof *drop);
    shares = room(threads, sizeof *shares);
    for (int thread = 0; thread < threads; thread++) {
        shares[thread] = room(molecules * ATOMS, sizeof **shares);
    }
    uint64_t state = 1;
    long side = (long)ceil(cbrt((double)molecules));
    for (long i = 0; i < molecules; i++) {
        vector oxygen = {3.0 * (double)(i % side), 3.0 * (double)(i / side % side), 3.0 * (double)(i / side / side)};
        double angle = 2 * M_PI * next_number(&state);
        pthread_mutex_init(&drop[i].lock, NULL);
        drop[i].places[0] = oxygen;
        drop[i].places[1] = (vector){oxygen.x + cos(angle), oxygen.y + sin(angle), oxygen.z};
        drop[i].places[2] = (vector){oxygen.x + cos(angle + 1.85), oxygen.y + sin(angle + 1.85), oxygen.z};
    }
    run_team(body);
    vector momentum = {0, 0, 0};
    double most = 0;
    for (long i = 0; i < molecules; i++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            add(&momentum, drop[i].speeds[atom], MASSES[atom]);
            most += MASSES[atom] * sqrt(square_of(drop[i].speeds[atom]));
        }
    }
    int right = sqrt(square_of(momentum)) < 1e-6 * most && fabs(last_energy - first_energy) < 2e-3 * fabs(first_energy);
    return verdict_number(right, last_energy);
}
