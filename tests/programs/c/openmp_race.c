// OpenMP: a sum that no reduction is named for, a loop whose results are used before its barrier, critical sections of
// different names.
// flags: -fopenmp -O1
// needs: omp.h
#include <omp.h>
#include <stdio.h>

#include "../include/invisible.h"

static int sum, early, names;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        turn(me + 1);
        sum += me; //~ RACE sum
        next_turn();
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static, 1) nowait
        for (int i = 0; i < 2; i++) {
            if (i == 0) {
                turn(3);
                early = 1; //~ RACE early
                next_turn();
            }
        }
        if (omp_get_thread_num() == 1) {
            turn(4);
            printf("%d\n", early); //~ RACE early
            next_turn();
        }
    }
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            turn(5);
#pragma omp critical(one)
            names++; //~ RACE names
            next_turn();
        } else {
            turn(6);
#pragma omp critical(other)
            names++; //~ RACE names
            next_turn();
        }
    }
    printf("%d %d\n", sum, names);
}
