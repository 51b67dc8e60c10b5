// In place of `is-in-ci`: whether there is a terminal is asked of the terminal.
export default false;
