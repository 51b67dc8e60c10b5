export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
