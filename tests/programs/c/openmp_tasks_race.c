// OpenMP: tasks without a dependence, and a result that is used without waiting for its task.
// flags: -fopenmp -O1
// needs: omp.h
#include <omp.h>
#include <stdio.h>

#include "../include/invisible.h"

static int both, result;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        // The first waits for the second to begin, so that two threads run them.
#pragma omp single
        {
#pragma omp task
            {
                turn(2);
                both = 1; //~ RACE both
                next_turn();
            }
#pragma omp task
            {
                turn(1);
                next_turn();
                turn(3);
                both = 2; //~ RACE both
                next_turn();
            }
        }
    }
#pragma omp parallel num_threads(2)
#pragma omp master
    {
#pragma omp task
        {
            turn(4);
            result = 42; //~ RACE result
            next_turn();
        }
        turn(5);
        printf("%d\n", result); //~ RACE result
        next_turn();
    }
    printf("%d\n", both);
}
