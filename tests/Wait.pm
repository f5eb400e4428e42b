package Wait;

# Tests wait for what is awaited, however busy the machine is: this is the one place
# that says for how long at most.

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(wait_until);
our $MOST = 60; # seconds

# Asks the block until what it returns is true, and returns that. Dies of waiting in vain.
sub wait_until(&$) {
    my ($asked, $what) = @_;
    my $end = time + $MOST;
    while (1) {
        my $is_late = time > $end;
        my $answer = $asked->();
        return $answer if $answer;
        die "in $MOST seconds there was not $what\n" if $is_late;
        sleep 0.01;
    }
}

1;
