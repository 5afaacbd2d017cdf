// IDEA encryption and decryption of an array, each thread its slice of blocks: the theme of Java Grande's crypt. Checked by
// the cipher's published test vector and by decryption, which must give the text back.
// suite: java-grande
// size: 14000000 quick: 60000 sweep: 1400000 2800000 7000000 14000000
#include <string.h>

#include "include/team.h"

enum { ROUNDS = 8, KEYS = 6 * ROUNDS + 4 };

typedef struct { uint16_t words[4]; } block;

static long blocks;
static block *text, *cipher, *back;
static uint16_t encryption[KEYS], decryption[KEYS];

// Multiplication modulo 65537, where 0 stands for 65536.
static uint16_t multiply(uint16_t a, uint16_t b) {
    uint64_t product = (uint64_t)(a ? a : 65536u) * (b ? b : 65536u);
    return (uint16_t)(product % 65537u);
}

// By Fermat: the power 65535 of it.
static uint16_t inverse(uint16_t a) {
    uint16_t result = 1;
    for (int i = 0; i < 16; i++) {
        result = multiply(multiply(result, result), a);
    }
    return result;
}

static void make_keys(const uint16_t user[8]) {
    memcpy(encryption, user, 8 * sizeof *user);
    for (int i = 8; i < KEYS; i++) {
        // The key of 128 bits is turned by 25 for every eight subkeys.
        const uint16_t *from = encryption + i / 8 * 8 - 8;
        int place = i % 8;
        encryption[i] = (uint16_t)(from[(place + 1) % 8] << 9 | from[(place + 2) % 8] >> 7);
    }
    for (int round = 0; round <= ROUNDS; round++) {
        const uint16_t *from = encryption + 6 * (ROUNDS - round);
        uint16_t *to = decryption + 6 * round;
        int ends = round == 0 || round == ROUNDS;
        to[0] = inverse(from[0]);
        to[1] = (uint16_t)-from[ends ? 1 : 2];
        to[2] = (uint16_t)-from[ends ? 2 : 1];
        to[3] = inverse(from[3]);
        if (round < ROUNDS) {
            to[4] = from[-2];
            to[5] = from[-1];
        }
    }
}

static void cipher_block(const block *from, block *to, const uint16_t *key) {
    uint16_t a = from->words[0], b = from->words[1], c = from->words[2], d = from->words[3];
    for (int round = 0; round < ROUNDS; round++, key += 6) {
        a = multiply(a, key[0]);
        b += key[1];
        c += key[2];
        d = multiply(d, key[3]);
        uint16_t left = multiply(a ^ c, key[4]);
        uint16_t right = multiply((uint16_t)((b ^ d) + left), key[5]);
        left += right;
        a ^= right;
        d ^= left;
        uint16_t swapped = b ^ left;
        b = c ^ right;
        c = swapped;
    }
    *to = (block){{multiply(a, key[0]), (uint16_t)(c + key[1]), (uint16_t)(b + key[2]), multiply(d, key[3])}}; //~ RACE block
}

static void body(long me) {
    long first = first_of(blocks, me), last = first_of(blocks, me + 1);
#ifdef RACE
    // The slice is taken one block too long.
    last += last < blocks;
#endif
    for (long i = first; i < last; i++) {
        cipher_block(&text[i], &cipher[i], encryption);
    }
    meet();
    for (long i = first; i < last; i++) {
        cipher_block(&cipher[i], &back[i], decryption);
    }
}

int main(int count, char **words) {
    blocks = arguments(count, words, 14000000, 2, 1L << 32);
    text = room(blocks, sizeof *text);
    cipher = room(blocks, sizeof *cipher);
    back = room(blocks, sizeof *back);

    make_keys((const uint16_t[]){1, 2, 3, 4, 5, 6, 7, 8});
    block known = {{0, 1, 2, 3}}, expected = {{0x11fb, 0xed2b, 0x0198, 0x6de5}};
    cipher_block(&known, &known, encryption);
    int right = memcmp(&known, &expected, sizeof known) == 0;

    uint64_t state = 1, bits;
    uint16_t user[8];
    for (int i = 0; i < 8; i++) {
        user[i] = (uint16_t)next_bits(&state);
    }
    make_keys(user);
    for (long i = 0; i < blocks; i++) {
        bits = next_bits(&state);
        memcpy(&text[i], &bits, sizeof bits);
    }
    run_team(body);
    uint64_t checksum = 0;
    for (long i = 0; i < blocks; i++) {
        right &= memcmp(&text[i], &back[i], sizeof *text) == 0;
        memcpy(&bits, &cipher[i], sizeof bits);
        checksum = scramble(checksum ^ bits);
    }
    return verdict(right, checksum);
}
