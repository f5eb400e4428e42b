/* Numbers in an explanation, for each program that explains them in a page. */

#pragma once

/* A number with as many decimals as print.c shows, and without a sign where
 * it rounds to 0; and "+ 0.5000" or "- 0.5000". */
const char *say(double x);
const char *say_added(double x);

/* The value of a number as shown. */
double say_shown(double x);

/* Print a line: the sum of x; a product, and behind it, unless that is NULL,
 * a name; a quotient. */
void say_sum(int n, const float x[n], double sum);
void say_product(float a, float c, const char *name);
void say_quotient(double a, double c, float result);

/* Notes that a line shows one result where another is right. Says so, if
 * that has been so since it was asked the last time. */
void say_remark(double shown, double result);
void say_digits(void);
