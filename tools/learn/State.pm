package State;

# How far an exercise is, by the tests of its chapter: what a learner is told, and a
# class is graded by.

use strict;
use warnings;
use Chapter;

# Of each exercise of a chapter, in order: exercise, state (done, empty, waits, wrong,
# or untested if it has no tests), for (the exercise that it waits for), own (its tests:
# those whose names begin with its function), bad (those that fail). `lines` are those
# of the file that was tested, which need not be whole.
sub of {
    my ($exercises, $lines, @tests) = @_;
    my (@states, @undone);
    for my $exercise (@$exercises) {
        my @own  = grep { $_->{name} =~ /^\Q$exercise->{function}\E:/ } @tests;
        my @bad  = grep { !$_->{ok} } @own;
        my @wait = map { @{$_->{empty}} } @bad;
        my $for  = @bad && (waits_for($exercise, $lines, @undone) // (@wait == @bad ? $wait[0] : undef)) || undef;
        my $state =
            !@own                                     ? 'untested'
          : !@bad                                     ? 'done'
          : (grep { $_ eq $exercise->{id} } @wait)    ? 'empty'
          : defined $for                              ? 'waits'
          :                                             'wrong';
        push @undone, $exercise if @bad;
        push @states, {exercise => $exercise, state => $state, for => $state eq 'waits' ? $for : undef, own => \@own,
            bad => \@bad};
    }
    return @states;
}

# What fails need not be wrong: the first one that is not done, of those that its function
# calls.
sub waits_for {
    my ($exercise, $lines, @undone) = @_;
    my $code = Chapter::code_of($exercise->{function}, @$lines);
    my ($first) = grep { $code =~ /\b\Q$_->{function}\E\s*\(/ } @undone;
    return $first && $first->{id};
}

# In words.
sub words {
    my ($of) = @_;
    my $own = @{$of->{own}};
    my $not_run = grep { ($_->{told}{wrong} // '') =~ /^not run:/ } @{$of->{bad}};
    my $bad = @{$of->{bad}} - $not_run;
    return {done => 'done', empty => 'empty', untested => 'has no tests',
        wrong => "wrong in $bad of $own tests" . ($not_run ? ", and $not_run not run" : ''),
        waits => 'waits for exercise ' . ($of->{for} // '')}->{$of->{state}};
}

# In words, what is left out, by its ids.
sub left {
    my (@ids) = @_;
    my $words = @ids > 3 ? @ids . ' challenges' : 'the challenge' . (@ids > 1 ? 's ' : ' ') . join ' and ', @ids;
    return $words . (@ids > 1 ? ' are' : ' is') . ' empty and may be left out';
}

1;
